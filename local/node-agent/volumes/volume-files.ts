import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { writeAtomically } from '../durable-file.ts'

export interface VolumeFile {
  /** Relative to the volume. */
  path: string
  /** `unchanged` keeps the current content. */
  content: Buffer | 'unchanged'
  mode?: number
}

/** Makes a volume contain exactly these files. Each file changes atomically, and only when its content changes. */
export async function writeVolumeFiles(folder: string, files: VolumeFile[], defaultMode: number): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const file of files) await writeVolumeFile(folder, file, defaultMode)
  const wanted = new Set(files.map((file) => path.normalize(file.path)))
  for (const name of await readdir(folder, { recursive: true })) {
    const found = await stat(path.join(folder, name)).catch(() => undefined)
    if (found?.isFile() && !wanted.has(name)) await rm(path.join(folder, name), { force: true })
  }
}

async function writeVolumeFile(folder: string, file: VolumeFile, defaultMode: number): Promise<void> {
  if (file.content === 'unchanged') return
  const target = path.join(folder, file.path)
  if (path.relative(folder, target).startsWith('..')) throw new Error(`${file.path} leaves its volume`)
  const now = await readFile(target).catch(() => undefined)
  if (now?.equals(file.content)) return
  await mkdir(path.dirname(target), { recursive: true, mode: 0o700 })
  await writeAtomically(target, file.content, file.mode ?? defaultMode)
}
