import { notFound } from '../../../lib/http/http-error.ts'
import { optimizerFile } from '../../../artifacts/layout.ts'
import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import type { StoredCheckpoint } from '../../../db/checkpoints/checkpoints.ts'
import { artifactKey, isKey } from '../../../artifacts/store/keys.ts'
import { ArtifactMissing } from '../../../artifacts/store/missing.ts'
import type { ArtifactStore } from '../../../artifacts/store/store.ts'

export const manifestName = 'manifest.json'

/** A file of a checkpoint: its name, its size in bytes, and the SHA-256 of its bytes in hex. */
export interface CheckpointFile {
  path: string
  size: number
  digest: string
  key: string
}

/**
 * Lists the files of a checkpoint that PEFT and engines load, by name, and its manifest.
 *
 * @throws {HttpError} 404 if they are gone, because the checkpoint was just deleted
 */
export async function listCheckpointFiles(
  artifacts: ArtifactStore,
  { uri }: Pick<StoredCheckpoint, 'uri'>,
): Promise<CheckpointFile[]> {
  const folder = artifactKey(uri)
  if (folder === undefined) throw new Error('a checkpoint has no address in the store')
  const manifest = await readManifest(artifacts, `${folder}/${manifestName}`)
  // Only trainers use the optimizer state, to continue a training.
  const names = Object.entries(manifest.files).filter(([name]) => name !== optimizerFile)
  const files = await Promise.all(
    names.map(async ([path, digest]) => {
      const key = `${folder}/${path}`
      const found = isKey(key) ? await artifacts.stat(key) : undefined
      if (!found) throw notFound('Checkpoint')
      return { path, size: found.size, digest, key }
    }),
  )
  return [...files, manifest.file].toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

async function readManifest(artifacts: ArtifactStore, key: string) {
  const bytes = await readAll(artifacts, key)
  const { files } = JSON.parse(bytes.toString()) as { files: Record<string, string> }
  const digest = createHash('sha256').update(bytes).digest('hex')
  return { files, file: { path: manifestName, size: bytes.length, digest, key } }
}

async function readAll(artifacts: ArtifactStore, key: string): Promise<Buffer> {
  try {
    return await buffer(await artifacts.open(key))
  } catch (error) {
    if (error instanceof ArtifactMissing) throw notFound('Checkpoint')
    throw error
  }
}
