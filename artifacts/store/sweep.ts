import { readdir, rm, stat } from 'node:fs/promises'
import path from 'node:path'

/** Removes old temporary files and folders from a folder. An entry is old if it was not written to for some time. */
export async function sweepFolder(folder: string, olderThanMs: number): Promise<void> {
  const oldest = Date.now() - olderThanMs
  for (const name of await readdir(folder).catch(() => [])) {
    const entry = path.join(folder, name)
    if ((await newestChange(entry)) < oldest) await rm(entry, { recursive: true, force: true })
  }
}

/** In milliseconds since 1970. A folder's own time does not show writes to its files. */
async function newestChange(entry: string): Promise<number> {
  const inside = await readdir(entry, { recursive: true }).catch(() => [])
  const files = [entry, ...inside.map((name) => path.join(entry, name))]
  const found = await Promise.all(files.map((file) => stat(file).catch(() => undefined)))
  return Math.max(...found.map((file) => file?.mtimeMs ?? 0))
}
