import { onShutdown } from '../lib/shutdown.ts'
import { loadConfig } from './config.ts'
import { closeMs, serve } from './serve.ts'

const config = loadConfig()
const { log, migrated, close } = await serve(config)
const drainMs = config.TRAINYARD_DRAIN_SECONDS * 1_000
onShutdown(log, (beginStep) => close(drainMs, beginStep), drainMs + closeMs)
await migrated
