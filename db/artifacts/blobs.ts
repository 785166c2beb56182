import { sqlKey, sqlUri } from '../../artifacts/layout.ts'
import type { Connection, Pool } from '../pool.ts'

/** A file in the store. Its key is the SHA-256 of its bytes. */
export interface Blob {
  digest: string
  size: number
}

/** SQL: whether a job, a version of a data set or a run needs the file `b`. */
export const isBlobNeeded = `(
  EXISTS (
    SELECT FROM training.artifact_versions v JOIN training.artifacts a ON a.id = v.artifact_id
    WHERE a.entity = b.entity AND v.files @> jsonb_build_array(jsonb_build_object('digest', b.digest)))
  OR EXISTS (SELECT FROM training.run_files f WHERE f.entity = b.entity AND f.digest = b.digest)
  OR EXISTS (
    SELECT FROM training.jobs j JOIN training.models m ON m.id = j.model_id
    WHERE m.deleted_at IS NULL AND j.input_uri = ${sqlUri(sqlKey('blob', { entity: 'b.entity', digest: 'b.digest' }))}))`

/** Records that a file of an entity is in the store. */
export async function insertBlob(pool: Pool, entity: string, { digest, size }: Blob): Promise<void> {
  await pool.query(
    `INSERT INTO training.blobs (entity, digest, size) VALUES ($1, $2, $3)
     ON CONFLICT (entity, digest) DO UPDATE SET created_at = now()`,
    [entity, digest, size],
  )
}

/**
 * Returns whether an entity's file is in the store. The file counts as new from now on, so that it is not removed soon.
 */
export async function renewBlob(pool: Pool, entity: string, { digest, size }: Blob): Promise<boolean> {
  const { rowCount } = await pool.query(
    'UPDATE training.blobs SET created_at = now() WHERE entity = $1 AND digest = $2 AND size = $3',
    [entity, digest, size],
  )
  return rowCount === 1
}

/** The size of an entity's file in the store; undefined if it is not there. */
export async function findBlobSize(pool: Pool, entity: string, digest: string): Promise<number | undefined> {
  const { rows } = await pool.query<{ size: number }>(
    'SELECT size FROM training.blobs WHERE entity = $1 AND digest = $2',
    [entity, digest],
  )
  return rows[0]?.size
}

/** Lists the files among these digests that are in the store. They are not removed before the transaction ends. */
export async function lockBlobs(connection: Connection, entity: string, digests: string[]): Promise<Blob[]> {
  const { rows } = await connection.query<Blob>(
    'SELECT digest, size FROM training.blobs WHERE entity = $1 AND digest = ANY ($2) ORDER BY digest FOR SHARE',
    [entity, digests],
  )
  return rows
}
