import { createHmac } from 'node:crypto'
import { readdirSync, readFileSync, realpathSync } from 'node:fs'
import path from 'node:path'

// Who reads a Secret of others when it starts. The chart mounts each Secret in the folder of its readers.
const readers = ['control', 'engine', 'trainer'] as const

/** Digests of the Secrets of others that pods have read at their start. Without any Secret it is empty. */
export type SecretDigests = Record<(typeof readers)[number], string>

/**
 * Reads the Secrets of others in a folder.
 *
 * @param key who knows only a digest cannot check a guess of a password against it without this key
 * @throws if Kubernetes replaces the files meanwhile
 */
export function readSecretDigests(folder: string, key: string): SecretDigests {
  const [control, engine, trainer] = readers.map((reader) => digestFolder(path.join(folder, reader), key))
  return { control: control!, engine: engine!, trainer: trainer! }
}

function digestFolder(linked: string, key: string): string {
  const folder = resolveLink(linked)
  if (folder === undefined) return ''
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => path.join(parentPath, name))
    .sort()
  if (files.length === 0) return ''
  const contents = files.map((file) => [path.relative(folder, file), readFileSync(file, 'base64')])
  return createHmac('sha256', key).update(JSON.stringify(contents)).digest('hex').slice(0, 16)
}

/** Kubernetes replaces all files of a volume at once, by another target of a link. */
function resolveLink(linked: string): string | undefined {
  try {
    return realpathSync(linked)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
