// What a checkpoint has as a version of the artifact with its model's name. The view training.versions has the rest.

import type { Connection, Pool } from '../pool.ts'

/** A file of a checkpoint. Both digests are of its bytes, in hex. */
export interface CheckpointFileDigests {
  path: string
  /** Its key in the store. */
  key: string
  size: number
  md5: string
}

/** Records the files of a version and their digest. They never change. */
export async function saveVersionFiles(
  connection: Connection | Pool,
  checkpointId: string,
  { files, digest }: { files: readonly Partial<CheckpointFileDigests>[]; digest: string },
): Promise<void> {
  await connection.query(
    `INSERT INTO training.checkpoint_versions (checkpoint_id, files, digest)
     SELECT id, $2, $3 FROM training.checkpoints WHERE id = $1
     ON CONFLICT (checkpoint_id) DO UPDATE SET files = $2, digest = $3`,
    [checkpointId, JSON.stringify(files), digest],
  )
}

/** What a client says about a version. Undefined stays. */
export interface VersionNotes {
  metadata: Record<string, unknown> | undefined
  description: string | undefined
  tagsToAdd: string[]
  tagsToDelete: string[]
}

/** Changes what a client says about a version. */
export async function saveVersionNotes(
  connection: Connection | Pool,
  checkpointId: string,
  { metadata, description, tagsToAdd, tagsToDelete }: VersionNotes,
): Promise<void> {
  await connection.query(
    `INSERT INTO training.checkpoint_versions (checkpoint_id)
     SELECT id FROM training.checkpoints WHERE id = $1 ON CONFLICT DO NOTHING`,
    [checkpointId],
  )
  const text = metadata === undefined ? null : JSON.stringify(metadata)
  await connection.query(
    `UPDATE training.checkpoint_versions SET updated_at = now(), metadata = coalesce($2::json, metadata),
       description = coalesce($3, description),
       tags = ARRAY(SELECT DISTINCT tag FROM unnest(tags || $4::text[]) AS tag WHERE NOT tag = ANY ($5) ORDER BY tag)
     WHERE checkpoint_id = $1`,
    [checkpointId, text, description ?? null, tagsToAdd, tagsToDelete],
  )
}

/** Records the run and the client's id of a version that a client has logged. */
export async function saveVersionOrigin(
  connection: Connection,
  checkpointId: string,
  { runName, clientId }: { runName: string | null; clientId: string | null },
): Promise<void> {
  await connection.query(
    'UPDATE training.checkpoint_versions SET run_name = $2, client_id = $3 WHERE checkpoint_id = $1',
    [checkpointId, runName, clientId],
  )
}
