import { randomUUID } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'

/** Writes a file so that a reader, and a later start after a crash, sees the old or the new content, never a part. */
export async function writeAtomically(file: string, content: string | Uint8Array, mode = 0o600): Promise<void> {
  const temporary = `${file}.${randomUUID()}.tmp`
  try {
    const handle = await open(temporary, 'wx', mode)
    try {
      await handle.chmod(mode)
      await handle.writeFile(content)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(temporary, file)
  } catch (cause) {
    await rm(temporary, { force: true })
    throw new Error(`writing ${file}`, { cause })
  }
}
