// The commands on the databases and the store of the environment, also in the image: node operator/backup/main.ts backup|restore FOLDER
import { ConfigError } from '../../lib/config.ts'
import { commands, isExplained, type BackupCommand } from './commands.ts'
import { loadInstallation } from './config.ts'

const [command = '', folder] = process.argv.slice(2)

try {
  if (!Object.hasOwn(commands, command) || folder === undefined) {
    throw new ConfigError('usage: node operator/backup/main.ts backup|restore FOLDER')
  }
  const { artifacts } = await commands[command as BackupCommand](await loadInstallation(), folder)
  process.stdout.write(`${command} done: ${artifacts.objects} objects, ${artifacts.bytes} bytes\n`)
} catch (error) {
  process.stderr.write(`${isExplained(error) ? error.message : String((error as Error).stack ?? error)}\n`)
  process.exit(1)
}
