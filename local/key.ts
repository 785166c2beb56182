import { runCommand } from './command.ts'
import { readLocalConfig } from './config.ts'
import { Problem } from './problem.ts'
import { createApiKey, withDatabase } from './stack/api-key.ts'
import { requireEntity } from './stack/entity.ts'
import { requireRunning } from './stack/require-running.ts'
import { databaseUrl } from './stack/postgres.ts'

/** `npm run key -- ENTITY`: makes a key of an entity and prints it, this one time. */
await runCommand(async () => {
  const [entity, ...rest] = process.argv.slice(2)
  if (entity === undefined || rest.length > 0) throw new Problem('usage: npm run key -- ENTITY')
  requireEntity(entity)
  const settings = requireRunning(readLocalConfig().stateFolder)
  const key = await withDatabase(databaseUrl(settings), (pool) => createApiKey(pool, entity))
  process.stderr.write(`A key of ${entity}. It is shown this once and stored nowhere:\n`)
  process.stdout.write(`${key}\n`)
})
