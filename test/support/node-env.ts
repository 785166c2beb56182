import path from 'node:path'
import { readLocalConfig } from '../../local/config.ts'

/** For Node programs that tests start often. Compiled modules are kept for the next start, which takes less CPU then. */
export const nodeEnv = { NODE_COMPILE_CACHE: path.join(readLocalConfig().cacheFolder, 'compiled', 'node') }

/** What the chart gives to V8. Without it, new objects take 130 MB. */
export const nodeFlags = ['--max-semi-space-size=8']

/** The same for the operator, whose pod may take 512 MiB. Without a limit for old objects, garbage takes as much as they do. */
export const operatorFlags = [...nodeFlags, '--max-old-space-size=384']

/** The same for the apiserver. */
export const apiServerFlags = [...nodeFlags, '--external-memory-accounted-in-global-limit']
