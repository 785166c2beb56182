import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { pack, type Pack } from 'tar-stream'
import type { ArtifactStore } from '../../../artifacts/store/store.ts'
import type { CheckpointFile } from './files.ts'

const blockBytes = 512
// A tar ends with two empty blocks.
const trailerBytes = 2 * blockBytes

/** A tar stream of a checkpoint's folder, and its size. */
export interface Archive {
  stream: Readable
  size: number
}

/** The same checkpoint always gives the same bytes. They are read from the store only as fast as the client reads. */
export function archiveCheckpoint(
  artifacts: ArtifactStore,
  folder: string,
  files: CheckpointFile[],
  modifiedAt: Date,
): Archive {
  const tar = pack()
  const size = files.reduce((sum, file) => sum + blockBytes + roundUp(file.size), trailerBytes)
  fill(tar, artifacts, { folder, files, modifiedAt }).catch((error: unknown) => tar.destroy(error as Error))
  return { stream: Readable.from(tar, { objectMode: false }), size }
}

interface Contents {
  folder: string
  files: CheckpointFile[]
  modifiedAt: Date
}

async function fill(tar: Pack, artifacts: ArtifactStore, { folder, files, modifiedAt }: Contents): Promise<void> {
  // Whole seconds: fractions would change the length of the headers.
  const mtime = new Date(Math.floor(modifiedAt.getTime() / 1000) * 1000)
  for (const { path, size, key } of files) {
    const source = await artifacts.open(key)
    await pipeline(source, tar.entry({ name: `${folder}/${path}`, size, mtime, mode: 0o644, uid: 0, gid: 0 }))
  }
  tar.finalize()
}

function roundUp(bytes: number): number {
  return Math.ceil(bytes / blockBytes) * blockBytes
}
