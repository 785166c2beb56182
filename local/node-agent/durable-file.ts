import { randomUUID } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'

/** Writes a file atomically: readers, and a start after a crash, see the old or the new content. */
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
