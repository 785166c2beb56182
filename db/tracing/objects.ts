import { column, selectColumns, type RowOf } from '../columns.ts'
import { withTransaction, type Connection, type Pool } from '../pool.ts'

/** The columns of `tracing.object_versions`, except for the value. */
export const objectColumns = {
  objectId: column<string>('object_id', 'text'),
  kind: column<'op' | 'object'>('kind', 'text'),
  digest: column<string>('digest', 'text'),
  versionIndex: column<number>('version_index', 'integer'),
  baseObjectClass: column<string | null>('base_object_class', 'text'),
  leafObjectClass: column<string | null>('leaf_object_class', 'text'),
  /** The size of the value in bytes. */
  size: column<number>('size', 'integer'),
  wbUserId: column<string>('wb_user_id', 'text'),
  createdAt: column<string>('created_at', 'timestamptz'),
  deletedAt: column<string | null>('deleted_at', 'timestamptz'),
}

/** A published version of a name, without its value. */
export interface ObjectVersion extends RowOf<typeof objectColumns> {
  isLatest: boolean
}

/** A version with the text of its value. */
export interface ObjectValue extends ObjectVersion {
  val: string
}

export interface NewVersion extends Pick<
  ObjectVersion,
  'objectId' | 'kind' | 'digest' | 'baseObjectClass' | 'leafObjectClass' | 'wbUserId'
> {
  val: string
}

/** Names a version by digest, by index, by alias, or as the latest. */
export type VersionSelector = { digest: string } | { index: number } | { alias: string } | 'latest'

export const versionColumns = `${selectColumns(objectColumns, 'v')},
  v.deleted_at IS NULL AND v.digest = o.latest AS "isLatest"`
export const fromVersions = 'tracing.object_versions v JOIN tracing.objects o USING (project, object_id, kind)'
const sameVersion = 'project = $1 AND object_id = $2 AND kind = $3 AND digest = $4'

/**
 * Publishes a value. The lock on the name's row orders concurrent publications and deletions, so indexes have no gaps
 * and each version exists once. An existing version becomes the latest. If it was deleted, it is restored with its
 * index, and with its value, which may have been removed. Its time and user are then those of this publication.
 */
export async function publishVersion(pool: Pool, project: number, version: NewVersion): Promise<void> {
  if (await isLatestAlready(pool, project, version)) return
  await withTransaction(pool, (connection) => publish(connection, project, version))
}

/**
 * Publishes a value if the latest version, deleted or not, is still the one of the digest `after`, or if there still is
 * none. Returns whether it did.
 */
export async function publishAfter(
  pool: Pool,
  project: number,
  { after, ...version }: NewVersion & { after: string | null },
): Promise<boolean> {
  return withTransaction(pool, async (connection) => {
    const isStill = (await lockLatest(connection, project, version)) === after
    if (isStill) await publish(connection, project, version)
    return isStill
  })
}

/** The latest version of a name, until the transaction ends. Its lock orders those who publish the first version too. */
async function lockLatest(connection: Connection, project: number, { objectId, kind }: NewVersion) {
  await connection.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`${project}/${kind}/${objectId}`])
  const { rows } = await connection.query<{ latest: string }>(
    'SELECT latest FROM tracing.objects WHERE project = $1 AND object_id = $2 AND kind = $3 FOR UPDATE',
    [project, objectId, kind],
  )
  return rows[0]?.latest ?? null
}

async function publish(connection: Connection, project: number, version: NewVersion): Promise<void> {
  const publication = await lockName(connection, project, version)
  const known = await reviveVersion(connection, project, { ...version, publication })
  if (!known) await insertVersion(connection, project, { ...version, publication })
}

/** Programs publish the same values at each start. Then there is nothing to write. */
async function isLatestAlready(pool: Pool, project: number, { objectId, kind, digest }: NewVersion): Promise<boolean> {
  const { rows } = await pool.query(
    `SELECT FROM ${fromVersions}
     WHERE v.project = $1 AND v.object_id = $2 AND v.kind = $3 AND v.digest = $4 AND o.latest = $4
       AND v.deleted_at IS NULL`,
    [project, objectId, kind, digest],
  )
  return rows.length > 0
}

async function lockName(connection: Connection, project: number, version: NewVersion): Promise<number> {
  const { rows } = await connection.query<{ publications: number }>(
    `INSERT INTO tracing.objects AS o (project, object_id, kind, latest, publications) VALUES ($1, $2, $3, $4, 1)
     ON CONFLICT (project, object_id, kind) DO UPDATE SET latest = excluded.latest, publications = o.publications + 1
     RETURNING publications`,
    [project, version.objectId, version.kind, version.digest],
  )
  return rows[0]!.publications
}

type Publication = NewVersion & { publication: number }

async function reviveVersion(connection: Connection, project: number, version: Publication): Promise<boolean> {
  const { rowCount } = await connection.query(
    `UPDATE tracing.object_versions SET publication = $5, deleted_at = NULL,
       val = CASE WHEN deleted_at IS NULL THEN val ELSE $6::text::json END,
       size = CASE WHEN deleted_at IS NULL THEN size ELSE octet_length($6) END,
       created_at = CASE WHEN deleted_at IS NULL THEN created_at ELSE clock_timestamp() END,
       wb_user_id = CASE WHEN deleted_at IS NULL THEN wb_user_id ELSE $7 END
     WHERE ${sameVersion}`,
    [project, version.objectId, version.kind, version.digest, version.publication, version.val, version.wbUserId],
  )
  return rowCount === 1
}

async function insertVersion(connection: Connection, project: number, version: Publication): Promise<void> {
  const { objectId, kind, digest, publication, baseObjectClass, leafObjectClass, val, wbUserId } = version
  await connection.query(
    `INSERT INTO tracing.object_versions (project, object_id, kind, digest, version_index, publication,
       base_object_class, leaf_object_class, val, size, wb_user_id, created_at)
     SELECT $1, $2, $3, $4, coalesce(max(v.version_index) + 1, 0), $5, $6, $7, $8::text::json, octet_length($8), $9,
       clock_timestamp()
     FROM tracing.object_versions v WHERE v.project = $1 AND v.object_id = $2 AND v.kind = $3`,
    [project, objectId, kind, digest, publication, baseObjectClass, leafObjectClass, val, wbUserId],
  )
}

/**
 * Finds a version, deleted or not, with its value if that has at most `valueBytes`. If an op and an object have the
 * same name, a live version wins, then the newest.
 */
export async function findVersion(
  pool: Pool,
  project: number,
  { objectId, selector, valueBytes }: { objectId: string; selector: VersionSelector; valueBytes: number },
): Promise<(ObjectVersion & { val: string | null }) | undefined> {
  const [condition, value] = matchVersion(selector)
  const { rows } = await pool.query<ObjectVersion & { val: string | null }>(
    `SELECT ${versionColumns}, CASE WHEN v.size <= $3 THEN v.val END AS val FROM ${fromVersions}
     WHERE v.project = $1 AND v.object_id = $2 AND ${condition}
     ORDER BY v.deleted_at IS NULL DESC, v.publication DESC, v.created_at DESC LIMIT 1`,
    value === undefined ? [project, objectId, valueBytes] : [project, objectId, valueBytes, value],
  )
  return rows[0]
}

/** The condition and the value of its parameter $4. */
function matchVersion(selector: VersionSelector): [condition: string, value?: string | number] {
  if (selector === 'latest') return ['v.digest = o.latest']
  if ('index' in selector) return ['v.version_index = $4', selector.index]
  if ('digest' in selector) return ['v.digest = $4', selector.digest]
  return [
    `v.digest = (SELECT a.digest FROM tracing.object_aliases a
       WHERE a.project = $1 AND a.object_id = $2 AND a.alias = $4)`,
    selector.alias,
  ]
}

/**
 * Deletes the live versions of a name that `choose` returns; returns how many. Deletes none if `choose` throws. Nobody
 * can publish under the name meanwhile.
 */
export async function deleteVersions(
  pool: Pool,
  { project, objectId }: { project: number; objectId: string },
  choose: (live: Pick<ObjectVersion, 'digest' | 'versionIndex' | 'isLatest'>[]) => string[],
): Promise<number> {
  return withTransaction(pool, async (connection) => {
    const name = [project, objectId]
    await connection.query(
      'SELECT FROM tracing.objects WHERE project = $1 AND object_id = $2 ORDER BY kind FOR UPDATE',
      name,
    )
    const { rows } = await connection.query<ObjectVersion>(
      `SELECT v.digest, v.version_index AS "versionIndex", v.digest = o.latest AS "isLatest" FROM ${fromVersions}
       WHERE v.project = $1 AND v.object_id = $2 AND v.deleted_at IS NULL`,
      name,
    )
    const { rowCount } = await connection.query(
      `UPDATE tracing.object_versions SET deleted_at = clock_timestamp()
       WHERE project = $1 AND object_id = $2 AND deleted_at IS NULL AND digest = ANY($3)`,
      [...name, choose(rows)],
    )
    await settleLatest(connection, name)
    return rowCount ?? 0
  })
}

async function settleLatest(connection: Connection, name: unknown[]): Promise<void> {
  await connection.query(
    `UPDATE tracing.objects o SET latest = coalesce((
       SELECT v.digest FROM tracing.object_versions v
       WHERE v.project = o.project AND v.object_id = o.object_id AND v.kind = o.kind AND v.deleted_at IS NULL
       ORDER BY v.publication DESC LIMIT 1), o.latest)
     WHERE o.project = $1 AND o.object_id = $2`,
    name,
  )
}
