import path from 'node:path'
import { readLocalConfig } from '../../local/config.ts'

/** For Node programs that tests start often: compiled modules are kept for the next start. Half of a start's CPU is saved. */
export const nodeEnv = { NODE_COMPILE_CACHE: path.join(readLocalConfig().cacheFolder, 'compiled', 'node') }
