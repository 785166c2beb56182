// The administrator's commands inside the image: node apiserver/accounts/admin/main.ts key|limits|garbage|console|test …
import { createPool } from '../../../db/pool.ts'
import { ConfigError } from '../../../lib/config.ts'
import { createLogger } from '../../../lib/log.ts'
import { CommandError } from './command.ts'
import { loadDatabase } from './config.ts'
import { findHelp, prepareAdminCommand } from './run.ts'

const [command, ...args] = process.argv.slice(2)
const help = findHelp(command, args)
try {
  if (help === undefined) await runOnDatabase()
  else process.stdout.write(help)
} catch (error) {
  const isExplained = error instanceof CommandError || error instanceof ConfigError
  process.stderr.write(`${isExplained ? error.message : String((error as Error).stack ?? error)}\n`)
  process.exit(1)
}

async function runOnDatabase(): Promise<void> {
  const run = prepareAdminCommand(command, args)
  const pool = createPool(loadDatabase(), createLogger('admin', 'error'), 1)
  await run(pool)
  await pool.end()
}
