import type { ListedCheckpoint, StoredCheckpoint } from '../../../db/checkpoints/checkpoints.ts'
import type { CheckpointFile } from './files.ts'

export function presentCheckpoint({ id, step, metrics, createdAt, bytes, loadedOn }: ListedCheckpoint) {
  return { id, step, metrics, created_at: createdAt.toISOString(), size: bytes, loaded_on: loadedOn }
}

/** Presents one checkpoint with its files. */
export function presentCheckpointDetails(checkpoint: StoredCheckpoint, files: CheckpointFile[]) {
  return {
    id: checkpoint.id,
    step: checkpoint.step,
    metrics: checkpoint.metrics,
    created_at: checkpoint.createdAt.toISOString(),
    aliases: checkpoint.aliases,
    digest: checkpoint.digest,
    size: files.reduce((sum, { size }) => sum + size, 0),
    files: files.map(presentFile),
    token_statistics: checkpoint.statistics,
  }
}

/** Presents all files of a checkpoint as a list of one page. */
export function presentFileList(files: CheckpointFile[]) {
  return {
    object: 'list' as const,
    data: files.map(presentFile),
    has_more: false,
    first_id: files[0]?.path ?? '',
    last_id: files.at(-1)?.path ?? '',
  }
}

function presentFile({ path, size, digest }: CheckpointFile) {
  return { path, size, digest }
}
