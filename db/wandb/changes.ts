import { lockBlobs } from '../artifacts/blobs.ts'
import type { ArtifactName } from '../artifacts/versions.ts'
import { saveVersionNotes, type VersionNotes } from '../checkpoints/versions.ts'
import { withTransaction, type Connection, type Pool } from '../pool.ts'
import type { PendingArtifact } from './pending-artifacts.ts'
import type { Version, VersionFile } from './versions.ts'

/** The content of a version that is committed. */
export interface VersionContent {
  files: VersionFile[]
  /** The REST interface's digest of files and metadata. */
  digest: string
  size: number
}

/** What may prevent a commit. */
export type Committed = 'committed' | { missing: string[] } | { otherType: string }

/**
 * Makes a version of a pending artifact: it gets the next number, and aliases move to it. The lock on the collection's
 * row orders concurrent commits. Files that are not in the store are returned, and nothing is changed.
 */
export function commitPending(pool: Pool, pending: PendingArtifact, content: VersionContent): Promise<Committed> {
  return withTransaction(pool, async (connection) => {
    const missing = await findMissingBlobs(connection, pending.entity, content.files)
    if (missing.length > 0) return { missing }
    const collection = await lockCollection(connection, pending, pending.type)
    if (collection.type !== pending.type) return { otherType: collection.type }
    const { rowCount } = await connection.query('DELETE FROM training.pending_artifacts WHERE id = $1', [pending.id])
    // Another request has committed it.
    if (rowCount === 0) return 'committed'
    await insertVersion(connection, collection.id, { ...pending, ...content, manifestDigest: pending.digest })
    await moveAliases(connection, { collectionId: collection.id, id: pending.id }, pending.aliases)
    return 'committed'
  })
}

async function findMissingBlobs(connection: Connection, entity: string, files: VersionFile[]): Promise<string[]> {
  const wanted = files.filter((file) => file.digest !== undefined)
  const there = await lockBlobs(connection, entity, [...new Set(wanted.map(({ digest }) => digest!))])
  const sizes = new Map(there.map(({ digest, size }) => [digest, size]))
  return wanted.filter(({ digest, size }) => sizes.get(digest!) !== size).map(({ path }) => path)
}

/** Locks a collection until the transaction ends. Creates it if it does not exist. */
export async function lockCollection(
  connection: Connection,
  { entity, project, name }: ArtifactName,
  type: string,
): Promise<{ id: string; type: string }> {
  // A collection without versions takes the type of its next one.
  const { rows } = await connection.query<{ id: string; type: string }>(
    `INSERT INTO training.artifacts AS a (entity, project, name, type) VALUES ($1, $2, $3, $4)
     ON CONFLICT (entity, project, name) DO UPDATE SET type = CASE
       WHEN EXISTS (SELECT FROM training.artifact_versions v WHERE v.artifact_id = a.id) THEN a.type ELSE $4 END
     RETURNING id, type`,
    [entity, project, name, type],
  )
  return rows[0]!
}

/** A version that is inserted into a locked collection. */
export interface InsertedVersion extends VersionContent {
  id: string
  keyId: string
  manifestDigest: string | null
  metadata: Record<string, unknown>
  description: string | null
  runName: string | null
  clientId: string | null
}

/** Inserts the next version of a locked collection. Returns its number. */
export async function insertVersion(
  connection: Connection,
  collectionId: string,
  added: InsertedVersion,
): Promise<number> {
  const { id, digest, size, files, metadata, keyId, manifestDigest, description, runName, clientId } = added
  const { rows } = await connection.query<{ version: number }>(
    `WITH given AS (
       UPDATE training.artifacts SET last_version = last_version + 1 WHERE id = $2 RETURNING last_version
     )
     INSERT INTO training.artifact_versions
       (id, artifact_id, version, digest, size, files, metadata, key_id, manifest_digest, description, run_name, client_id)
     SELECT $1, $2, last_version, $3, $4, $5, $6, $7, $8, $9, $10, $11 FROM given RETURNING version`,
    [
      id,
      collectionId,
      digest,
      size,
      JSON.stringify(files),
      JSON.stringify(metadata),
      keyId,
      manifestDigest,
      description,
      runName,
      clientId,
    ],
  )
  return rows[0]!.version
}

/** Gives aliases to a version. Versions that have them lose them. */
export async function moveAliases(
  connection: Connection,
  { collectionId, id }: Pick<Version, 'collectionId' | 'id'>,
  aliases: string[],
): Promise<void> {
  await connection.query(
    `INSERT INTO training.artifact_aliases (artifact_id, alias, version_id)
     SELECT $1, alias, $3 FROM unnest($2::text[]) AS alias WHERE EXISTS (SELECT FROM training.artifact_versions WHERE id = $3)
     ON CONFLICT (artifact_id, alias) DO UPDATE SET version_id = excluded.version_id`,
    [collectionId, [...new Set(aliases)], id],
  )
}

/** Takes aliases from a version. */
export async function removeAliases(pool: Pool, { id }: Pick<Version, 'id'>, aliases: string[]): Promise<void> {
  await pool.query('DELETE FROM training.artifact_aliases WHERE version_id = $1 AND alias = ANY ($2)', [id, aliases])
}

/** Changes what a client says about a version, or about a checkpoint. */
export async function updateVersion(pool: Pool, id: string, changes: VersionNotes): Promise<void> {
  const { description, metadata, tagsToAdd, tagsToDelete } = changes
  const { rowCount } = await pool.query(
    `UPDATE training.artifact_versions SET updated_at = now(), description = coalesce($2, description),
       metadata = coalesce($3::json, metadata),
       tags = ARRAY(SELECT DISTINCT tag FROM unnest(tags || $4::text[]) AS tag WHERE NOT tag = ANY ($5) ORDER BY tag)
     WHERE id = $1`,
    [id, description ?? null, metadata === undefined ? null : JSON.stringify(metadata), tagsToAdd, tagsToDelete],
  )
  if (rowCount === 0) await saveVersionNotes(pool, id, changes)
}

/** Deletes versions. Their files are garbage if nothing else needs them. */
export async function deleteVersions(pool: Pool, ids: string[]): Promise<void> {
  await pool.query('DELETE FROM training.artifact_versions WHERE id = ANY ($1)', [ids])
}

/** Deletes all versions of a collection. Its numbers are not given again. */
export async function deleteVersionsOf(pool: Pool, collectionId: string): Promise<void> {
  await pool.query('DELETE FROM training.artifact_versions WHERE artifact_id = $1', [collectionId])
}

/** Adds the md5 to a file in the store. */
export async function recordMd5(pool: Pool, entity: string, digest: string, md5: string): Promise<void> {
  await pool.query('UPDATE training.blobs SET md5 = $3 WHERE entity = $1 AND digest = $2', [entity, digest, md5])
}

/** A file in the store that clients name by its md5. */
export interface NamedBlob {
  md5: string
  digest: string
  size: number
}

/** Finds files by their md5s. They count as new from now on, so that they are not removed soon. */
export async function renewBlobsByMd5(pool: Pool, entity: string, md5s: string[]): Promise<NamedBlob[]> {
  const { rows } = await pool.query<NamedBlob>(
    `UPDATE training.blobs SET created_at = now() WHERE entity = $1 AND md5 = ANY ($2) RETURNING md5, digest, size`,
    [entity, md5s],
  )
  return rows
}
