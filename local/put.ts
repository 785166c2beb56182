import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { FolderStore } from '../artifacts/store/folder-store.ts'
import { putPayload } from '../artifacts/store/payloads.ts'
import { runCommand } from './command.ts'
import { readLocalConfig } from './config.ts'
import { UserError } from './user-error.ts'
import { defaultEntity } from './stack/api-key.ts'
import { requireEntity } from './put/entity.ts'
import { layoutOf } from './stack/layout.ts'
import { parsePayload } from './put/payload.ts'
import { requireRunning } from './stack/require-running.ts'

const usage = 'usage: npm run put -- FILE [--entity E]'

/** `npm run put -- FILE [--entity E]`: stores a payload of an entity and prints the inputRef for a TrainingJob. */
await runCommand(async () => {
  if (process.argv.slice(2).some((arg) => arg === '--help' || arg === '-h')) {
    process.stdout.write(`${usage}\n`)
    return
  }
  const { file, entity } = readArguments(process.argv.slice(2))
  requireEntity(entity)
  const { stateFolder } = readLocalConfig()
  requireRunning(stateFolder)
  const bytes = await readFile(file).catch((cause: NodeJS.ErrnoException) => {
    throw new UserError(`${file} cannot be read (${cause.code}).`, { cause })
  })
  parsePayload(file, bytes)
  const { uri, digest } = await putPayload(new FolderStore(layoutOf(stateFolder).artifacts), entity, bytes)
  process.stdout.write(`uri: ${uri}\ndigest: ${digest}\n`)
})

function readArguments(args: string[]): { file: string; entity: string } {
  try {
    const { values, positionals } = parseArgs({ args, options: { entity: { type: 'string' } }, allowPositionals: true })
    if (positionals.length === 1) return { file: positionals[0]!, entity: values.entity ?? defaultEntity }
  } catch (cause) {
    throw new UserError(`${(cause as Error).message}\n${usage}`, { cause })
  }
  throw new UserError(usage)
}
