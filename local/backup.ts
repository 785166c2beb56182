import { backUp } from '../operator/backup/back-up.ts'
import { readLocalConfig } from './config.ts'
import { installationOf } from './stack/installation.ts'
import { requireRunning } from './stack/require-running.ts'
import { runBackupCommand } from './stack/run-backup-command.ts'

/** `npm run backup -- FOLDER`: a backup of the local stack, or of the installation of DATABASE_URL. */
await runBackupCommand('backup', async (folder) => {
  const { stateFolder } = readLocalConfig()
  return backUp(await installationOf(stateFolder, requireRunning(stateFolder)), folder)
})
