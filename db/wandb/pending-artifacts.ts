import type { ArtifactName } from '../artifacts/versions.ts'
import type { Connection, Pool } from '../pool.ts'

/** A version that is being uploaded. */
export interface PendingArtifact extends ArtifactName {
  id: string
  type: string
  keyId: string
  /** The manifest digest that the client expects. */
  digest: string
  aliases: string[]
  metadata: Record<string, unknown>
  description: string | null
  runName: string | null
  clientId: string | null
  manifestMd5: string | null
  manifestBlob: string | null
}

const columns = `id, entity, project, name, type, key_id AS "keyId", digest, aliases, metadata, description,
  run_name AS "runName", client_id AS "clientId", manifest_md5 AS "manifestMd5", manifest_blob AS "manifestBlob"`
// A client that has not finished after this time has given up: it retries for minutes.
const maxAge = "interval '1 day'"

export async function insertPending(
  pool: Pool,
  pending: Omit<PendingArtifact, 'manifestMd5' | 'manifestBlob'>,
): Promise<void> {
  const { id, entity, project, name, type, keyId, digest, aliases, metadata, description, runName, clientId } = pending
  await pool.query(
    `INSERT INTO training.pending_artifacts
       (id, entity, project, name, type, key_id, digest, aliases, metadata, description, run_name, client_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    [
      id,
      entity,
      project,
      name,
      type,
      keyId,
      digest,
      JSON.stringify(aliases),
      JSON.stringify(metadata),
      description,
      runName,
      clientId,
    ],
  )
}

export async function findPending(
  connection: Connection,
  entity: string,
  id: string,
): Promise<PendingArtifact | undefined> {
  const { rows } = await connection.query<PendingArtifact>(
    `SELECT ${columns} FROM training.pending_artifacts WHERE entity = $1 AND id = $2`,
    [entity, id],
  )
  return rows[0]
}

/** Counts the versions that an entity is uploading. */
export async function countPending(pool: Pool, entity: string): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `SELECT count(*) FROM training.pending_artifacts WHERE entity = $1 AND created_at >= now() - ${maxAge}`,
    [entity],
  )
  return rows[0]!.count
}

/** Records the md5 that the manifest's file will have. */
export async function expectManifest(pool: Pool, id: string, md5: string): Promise<void> {
  await pool.query('UPDATE training.pending_artifacts SET manifest_md5 = $2, manifest_blob = NULL WHERE id = $1', [
    id,
    md5,
  ])
}

/** Records that the manifest has arrived. */
export async function recordManifest(
  pool: Pool,
  id: string,
  { md5, blob }: { md5: string; blob: string },
): Promise<void> {
  await pool.query('UPDATE training.pending_artifacts SET manifest_blob = $3 WHERE id = $1 AND manifest_md5 = $2', [
    id,
    md5,
    blob,
  ])
}

/** Deletes a version that was committed as a checkpoint, or has expired. */
export async function deletePending(pool: Pool, id: string): Promise<void> {
  await pool.query('DELETE FROM training.pending_artifacts WHERE id = $1', [id])
}

/** Lists versions whose clients have given up. Their files are garbage if no version has them. */
export async function listExpiredPending(pool: Pool): Promise<{ entity: string; id: string }[]> {
  const { rows } = await pool.query<{ entity: string; id: string }>(
    `SELECT entity, id FROM training.pending_artifacts WHERE created_at < now() - ${maxAge} ORDER BY created_at LIMIT 1000`,
  )
  return rows
}
