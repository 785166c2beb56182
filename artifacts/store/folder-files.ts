import { mkdir, open, rename } from 'node:fs/promises'
import path from 'node:path'

/** Moves a finished file to its final name, durably. Another process may remove the folder meanwhile. */
export async function commitFile(temporary: string, file: string): Promise<void> {
  await syncPath(temporary)
  await makeFolder(path.dirname(file))
  await rename(temporary, file).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    await makeFolder(path.dirname(file))
    await rename(temporary, file)
  })
  await syncPath(path.dirname(file))
}

/** Creates a folder and its parents. Each new name is synced in its parent folder. */
async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true })
  if (first === undefined) return
  for (let made = folder; made.length >= first.length; made = path.dirname(made)) await syncPath(path.dirname(made))
}

async function syncPath(file: string): Promise<void> {
  const handle = await open(file, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
