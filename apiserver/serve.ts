import cluster from 'node:cluster'
import type { Server } from 'node:http'
import { registerDatabaseMetrics } from '../db/metrics/register.ts'
import { migrateWhenReady } from '../db/migrate.ts'
import { waitForStore } from '../artifacts/store/wait-for-store.ts'
import { startServer, stopServer } from '../lib/http/server.ts'
import { createLogger, type Logger } from '../lib/log.ts'
import { startMetricsServer } from '../lib/metrics/metrics-server.ts'
import type { BeginStep } from '../lib/shutdown.ts'
import { createApp } from './app.ts'
import { startBackground } from './background.ts'
import { listTrustedProxies, type Config } from './config.ts'
import { registerGatewayMetrics } from './metrics/register-gateway.ts'
import { openGroups, type OpenGroups } from './open-groups.ts'
import { connectionsPerStranger, serverSettings } from './server-settings.ts'
import { createSharedParts, type SharedParts } from './shared-parts.ts'

// The part of `closeMs` that remains for the traces of chats, even if the last response used the rest.
const minTraceMs = 2_000
// How long clients that keep a connection may leave it unused before an apiserver that ends closes it: 15 s of the default of
// 300 s. A request that meets the end of its connection fails.
const minIdleMs = 1_000

/** A server that answers requests. */
export interface Serving {
  log: Logger
  /** Resolves when the databases are migrated. Until then, only the health check is answered. */
  migrated: Promise<void>
  /** Ends everything. Responses may continue for `drainMs`. */
  close: (drainMs: number, beginStep?: BeginStep) => Promise<void>
}

/** Starts an apiserver in this process. Resolves when its port is open. @throws {ConfigError} */
export async function serve(config: Config): Promise<Serving> {
  const log = createLogger('apiserver', config.LOG_LEVEL)
  const shared = await createSharedParts(config, log)
  const groups = await openGroups(config, shared)
  const stop = new AbortController()
  const state = { isMigrated: false, storeTrouble: undefined as string | undefined }
  const health = { isMigrated: () => state.isMigrated, storeTrouble: () => state.storeTrouble }
  const metrics = await startMetrics(config, shared, groups)
  const server = await startServer(createApp({ ...shared, ...health }, groups), {
    host: config.TRAINYARD_HOST,
    port: config.TRAINYARD_PORT,
    ...serverSettings,
    share: { most: connectionsPerStranger, trustedProxies: listTrustedProxies(config) },
  })
  log.info({ host: config.TRAINYARD_HOST, port: config.TRAINYARD_PORT }, 'listening')
  const background = startBackground(shared)
  const onTrouble = (trouble: string | undefined) => (state.storeTrouble = trouble)
  void waitForStore(shared.artifacts, log, { signal: stop.signal, onTrouble })
  const migrated = migrate(shared, stop.signal, () => (state.isMigrated = true))
  const close: Serving['close'] = async (drainMs, beginStep = () => {}) => {
    stop.abort()
    await endRequests({ server, groups, drainMs, beginStep })
    beginStep('change feed')
    await shared.changes.close()
    beginStep('groups')
    await groups.training?.close()
    await groups.inference?.close()
    beginStep('usage')
    await background.close()
    beginStep('connections to the database')
    for (const pool of [shared.pool, shared.tracing, shared.traceWrites]) await pool.end()
    metrics?.close()
  }
  return { log, migrated, close }
}

function startMetrics(config: Config, shared: SharedParts, { inference }: OpenGroups): Promise<Server | undefined> {
  const { registry, meter, pool, tracing, traceWrites, log } = shared
  meter.register(registry)
  registerDatabaseMetrics(registry, { main: pool, tracing, trace_writes: traceWrites })
  if (inference) registerGatewayMetrics(registry, () => inference.listLoads())
  // The supervisor serves the metrics of all its processes.
  if (cluster.isWorker) return Promise.resolve(undefined)
  return startMetricsServer(config, () => registry.metrics(), log)
}

interface EndOfRequests {
  server: Server
  groups: OpenGroups
  drainMs: number
  beginStep: BeginStep
}

async function endRequests({ server, groups, drainMs, beginStep }: EndOfRequests): Promise<void> {
  const deadlineMs = performance.now() + drainMs
  // Streams of events end now, and their clients reconnect to another process.
  groups.training?.stopWaiting()
  // Chats that wait for an engine have half of the time for that, and the other half for their answers.
  const endWaits = setTimeout(() => groups.inference?.stopWaiting(), drainMs / 2)
  beginStep('requests')
  await stopServer(server, { graceMs: drainMs, minIdleMs: Math.max(minIdleMs, drainMs / 20) })
  clearTimeout(endWaits)
  beginStep('traces of chats')
  await groups.chats?.close(Math.max(deadlineMs - performance.now(), minTraceMs))
}

/** In the meantime, the health check is answered, so that a process that only waits for its database is not restarted. */
async function migrate(shared: SharedParts, signal: AbortSignal, onMigrated: () => void): Promise<void> {
  const { log, databaseUrl, tracingDatabaseUrl, changes } = shared
  await migrateWhenReady(databaseUrl, log, { signal })
  if (!signal.aborted) {
    onMigrated()
    changes.start(databaseUrl, log)
  }
  await migrateWhenReady(tracingDatabaseUrl, log, { part: 'tracing', signal })
}
