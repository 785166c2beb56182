import { keyOf, sqlKey, sqlUri } from '../../artifacts/layout.ts'
import type { Connection, Pool } from '../pool.ts'

/** A file in the store. Its digest is the SHA-256 of its bytes. */
export interface Blob {
  digest: string
  size: number
}

/** A file whose object has a name of its own, because it was stored before its digest was known. */
export interface StreamedBlob extends Blob {
  object: string
  /** In hex. */
  md5: string
}

/** SQL: the key of the file `b` in the store. */
export const sqlBlobKey = sqlKey('blob', { entity: 'b.entity', object: 'coalesce(b.object, b.digest)' })

/** SQL: whether a job, a version of a data set or a run needs the file `b`. */
export const isBlobNeeded = `(
  EXISTS (
    SELECT FROM training.artifact_versions v JOIN training.artifacts a ON a.id = v.artifact_id
    WHERE a.entity = b.entity AND v.files @> jsonb_build_array(jsonb_build_object('digest', b.digest)))
  OR EXISTS (SELECT FROM training.run_files f WHERE f.entity = b.entity AND f.digest = b.digest)
  OR EXISTS (
    SELECT FROM training.jobs j JOIN training.models m ON m.id = j.model_id
    WHERE m.deleted_at IS NULL AND j.input_uri = ${sqlUri(sqlBlobKey)}))`

/** Records that a file of an entity is in the store, as the object that is named after its digest. */
export async function insertBlob(pool: Pool, entity: string, { digest, size }: Blob): Promise<void> {
  await pool.query(
    `INSERT INTO training.blobs (entity, digest, size) VALUES ($1, $2, $3)
     ON CONFLICT (entity, digest) DO UPDATE SET created_at = now(), object = NULL`,
    [entity, digest, size],
  )
}

/**
 * Returns the key of an entity's file if it is recorded. The file counts as new from now on, so that it is not removed
 * soon.
 */
export async function renewBlob(pool: Pool, entity: string, { digest, size }: Blob): Promise<string | undefined> {
  const { rows } = await pool.query<{ key: string }>(
    `UPDATE training.blobs b SET created_at = now() WHERE entity = $1 AND digest = $2 AND size = $3
     RETURNING ${sqlBlobKey} AS key`,
    [entity, digest, size],
  )
  return rows[0]?.key
}

/** Records a file whose object has a name of its own. Returns false if another file has the same bytes. */
export async function insertStreamedBlob(
  pool: Pool,
  entity: string,
  { digest, size, md5, object }: StreamedBlob,
): Promise<boolean> {
  const { rowCount } = await pool.query(
    'INSERT INTO training.blobs (entity, digest, size, md5, object) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING',
    [entity, digest, size, md5, object],
  )
  return rowCount === 1
}

/** Gives a file another object, because its own is gone. */
export async function replaceBlobObject(
  pool: Pool,
  entity: string,
  { digest, object }: Pick<StreamedBlob, 'digest' | 'object'>,
): Promise<void> {
  await pool.query('UPDATE training.blobs SET object = $3 WHERE entity = $1 AND digest = $2', [entity, digest, object])
}

/** The key of an entity's file. A file without a row has no object, so that its key leads nowhere. */
export async function locateBlob(pool: Pool, entity: string, digest: string): Promise<string> {
  const { rows } = await pool.query<{ object: string | null }>(
    'SELECT object FROM training.blobs WHERE entity = $1 AND digest = $2',
    [entity, digest],
  )
  return keyOf('blob', { entity, object: rows[0]?.object ?? digest })
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
