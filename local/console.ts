import { runLocally } from './admin.ts'
import { readLocalConfig } from './config.ts'
import { defaultEntity } from './stack/api-key.ts'
import { readStackEnv } from './stack/env-file.ts'

/** `npm run console [-- ENTITY] [--role ROLE]`: prints a link that logs one browser in. */
const url = readStackEnv(readLocalConfig().stateFolder)?.TRAINYARD_URL
const args = process.argv.slice(2)
const hasEntity = args.length > 0 && !args[0]!.startsWith('-')
await runLocally('console', [...(hasEntity ? [] : [defaultEntity]), ...args, ...(url ? ['--url', url] : [])])
