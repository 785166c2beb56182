import { readLocalConfig } from './config.ts'
import { install } from './install/install.ts'
import { restoreStack } from './stack/restore-stack.ts'
import { runBackupCommand } from './stack/run-backup-command.ts'
import { Board } from './terminal/board.ts'

/** `npm run restore -- FOLDER`: restores a backup into a new local stack, or into the installation of DATABASE_URL. */
await runBackupCommand('restore', async (folder, signal) => {
  const config = readLocalConfig()
  const { stateFolder, port } = config
  const board = new Board()
  const installation = await install({ config, board, signal })
  const manifest = await board.run('restoring into a new stack', (phase) =>
    restoreStack({ config, installation, stateFolder, port, phase, signal }, folder),
  )
  board.say('`npm run up` starts it. Then look at `npm run garbage -- list`.')
  return manifest
})
