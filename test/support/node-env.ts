import path from 'node:path'
import { readLocalConfig } from '../../local/config.ts'

/** For Node programs that tests start often. Compiled modules are kept for the next start, which takes less CPU then. */
export const nodeEnv = { NODE_COMPILE_CACHE: path.join(readLocalConfig().cacheFolder, 'compiled', 'node') }

/** What the chart gives to V8. */
export const apiServerFlags = ['--max-semi-space-size=8', '--external-memory-accounted-in-global-limit']
