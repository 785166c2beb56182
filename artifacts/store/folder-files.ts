import { mkdir, open, rename } from 'node:fs/promises'
import path from 'node:path'

/** Puts a finished file under its final name, durably. The folder may be removed by somebody else meanwhile. */
export async function placeFile(temporary: string, file: string): Promise<void> {
  await syncPath(temporary)
  await makeFolder(path.dirname(file))
  await rename(temporary, file).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    await makeFolder(path.dirname(file))
    await rename(temporary, file)
  })
  await syncPath(path.dirname(file))
}

/** Makes a folder with its parents; each new name is synced into the folder above it. */
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
