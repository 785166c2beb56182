import path from 'node:path'
import type { Manifest } from '../../operator/backup/backup-folder.ts'
import { commands, isExplained, type BackupCommand } from '../../operator/backup/commands.ts'
import { hasInstallation, loadInstallation } from '../../operator/backup/config.ts'
import { runCommand } from '../command.ts'
import { UserError } from '../user-error.ts'

/** Runs a command on the installation that the environment names, or else on the local stack. */
export async function runBackupCommand(
  command: BackupCommand,
  runLocally: (folder: string, signal: AbortSignal) => Promise<Manifest>,
): Promise<void> {
  await runCommand(async (signal) => {
    const [given] = process.argv.slice(2)
    if (given === undefined) throw new UserError(`usage: npm run ${command} -- FOLDER`)
    const folder = path.resolve(given)
    try {
      const work = hasInstallation() ? commands[command](await loadInstallation(), folder) : runLocally(folder, signal)
      const { artifacts } = await work
      process.stdout.write(`${command} done: ${artifacts.objects} objects, ${artifacts.bytes} bytes\n`)
    } catch (error) {
      throw isExplained(error) ? new UserError(error.message, { cause: error }) : error
    }
  })
}
