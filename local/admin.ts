import { CommandError } from '../apiserver/accounts/admin/command.ts'
import { findHelp, prepareAdminCommand, type AdminCommand } from '../apiserver/accounts/admin/run.ts'
import { runCommand } from './command.ts'
import { readLocalConfig } from './config.ts'
import { UserError } from './user-error.ts'
import { withDatabase } from './stack/api-key.ts'
import { databaseUrl } from './stack/programs/postgres.ts'
import { requireRunning } from './stack/require-running.ts'

/**
 * Runs one of the administrator's commands, by default with the arguments of this process, on the database of the local
 * stack.
 */
export async function runLocally(command: AdminCommand, args = process.argv.slice(2)): Promise<void> {
  await runCommand(async () => {
    const help = findHelp(command, args)
    if (help !== undefined) {
      process.stdout.write(help)
      return
    }
    try {
      const run = prepareAdminCommand(command, args)
      const settings = requireRunning(readLocalConfig().stateFolder)
      await withDatabase(databaseUrl(settings), run)
    } catch (error) {
      throw error instanceof CommandError ? new UserError(error.message, { cause: error }) : error
    }
  })
}
