import { readFile, rename, stat, writeFile } from 'node:fs/promises'

/**
 * A stamp beside a file says that the file is complete. It contains the file's size and its source. A file without a
 * stamp, or of another size, is incomplete.
 */
interface Stamp {
  source: string
  size: number
}

/** Renames a finished temporary file to its final name and writes its stamp. */
export async function moveWithStamp(temporary: string, file: string, source: string): Promise<void> {
  const { size } = await stat(temporary)
  await rename(temporary, file)
  const stamp: Stamp = { source, size }
  await writeFile(`${stampOf(file)}.tmp`, JSON.stringify(stamp))
  await rename(`${stampOf(file)}.tmp`, stampOf(file))
}

/** Whether this file is complete. */
export async function isComplete(file: string): Promise<boolean> {
  try {
    const stamp = JSON.parse(await readFile(stampOf(file), 'utf8')) as Stamp
    return (await stat(file)).size === stamp.size
  } catch {
    return false
  }
}

function stampOf(file: string): string {
  return `${file}.complete`
}
