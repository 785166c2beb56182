import { readFile, rename, stat, writeFile } from 'node:fs/promises'

/**
 * A stamp beside a file says that the file is complete: it holds the file's size, and where it came from. A file
 * without its stamp, or of another size, counts as half-made.
 */
interface Stamp {
  source: string
  size: number
}

/** Puts a finished temporary file in its place and stamps it. */
export async function putInPlace(temporary: string, file: string, source: string): Promise<void> {
  const { size } = await stat(temporary)
  await rename(temporary, file)
  const stamp: Stamp = { source, size }
  await writeFile(`${stampOf(file)}.tmp`, JSON.stringify(stamp))
  await rename(`${stampOf(file)}.tmp`, stampOf(file))
}

/** Whether this file was put in place completely. */
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
