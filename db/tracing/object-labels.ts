import type { Pool } from '../pool.ts'
import type { VersionName } from './object-lists.ts'

/** Adds tags to a version. Existing tags stay. */
export async function addTags(
  pool: Pool,
  project: number,
  { objectId, digest, tags }: VersionName & { tags: string[] },
): Promise<void> {
  await pool.query(
    `INSERT INTO tracing.object_tags (project, object_id, digest, tag)
     SELECT $1, $2, $3, tag FROM unnest($4::text[]) AS tag ORDER BY tag COLLATE "C" ON CONFLICT DO NOTHING`,
    [project, objectId, digest, tags],
  )
}

/** Removes tags from a version. Ignores tags that it does not have. */
export async function removeTags(
  pool: Pool,
  project: number,
  { objectId, digest, tags }: VersionName & { tags: string[] },
): Promise<void> {
  await pool.query(
    'DELETE FROM tracing.object_tags WHERE project = $1 AND object_id = $2 AND digest = $3 AND tag = ANY($4)',
    [project, objectId, digest, tags],
  )
}

/** Sets aliases of a version. Aliases of the object's other versions move to this one. */
export async function setAliases(
  pool: Pool,
  project: number,
  { objectId, digest, aliases }: VersionName & { aliases: string[] },
): Promise<void> {
  await pool.query(
    `INSERT INTO tracing.object_aliases (project, object_id, alias, digest)
     SELECT DISTINCT $1::int, $2, alias, $3 FROM unnest($4::text[]) AS alias ORDER BY alias
     ON CONFLICT (project, object_id, alias) DO UPDATE SET digest = excluded.digest`,
    [project, objectId, digest, aliases],
  )
}

/** Removes aliases from an object. Ignores aliases that it does not have. */
export async function removeAliases(
  pool: Pool,
  project: number,
  { objectId, aliases }: { objectId: string; aliases: string[] },
): Promise<void> {
  await pool.query('DELETE FROM tracing.object_aliases WHERE project = $1 AND object_id = $2 AND alias = ANY($3)', [
    project,
    objectId,
    aliases,
  ])
}

const ofLiveVersion = `EXISTS (
  SELECT FROM tracing.object_versions v
  WHERE v.project = l.project AND v.object_id = l.object_id AND v.digest = l.digest AND v.deleted_at IS NULL)`

/** Lists all tags of live versions. */
export async function listTags(pool: Pool, project: number): Promise<string[]> {
  const { rows } = await pool.query<{ tag: string }>(
    `SELECT DISTINCT l.tag FROM tracing.object_tags l WHERE l.project = $1 AND ${ofLiveVersion} ORDER BY l.tag`,
    [project],
  )
  return rows.map(({ tag }) => tag)
}

/** Lists all aliases of live versions. */
export async function listAliases(pool: Pool, project: number): Promise<string[]> {
  const { rows } = await pool.query<{ alias: string }>(
    `SELECT DISTINCT l.alias FROM tracing.object_aliases l WHERE l.project = $1 AND ${ofLiveVersion} ORDER BY l.alias`,
    [project],
  )
  return rows.map(({ alias }) => alias)
}

export interface VersionLabels {
  tags: string[]
  aliases: string[]
}

/** Reads the labels of versions, in the order of the versions. */
export async function readLabels(pool: Pool, project: number, versions: VersionName[]): Promise<VersionLabels[]> {
  const { rows } = await pool.query<VersionLabels>(
    `SELECT
       ARRAY(SELECT t.tag FROM tracing.object_tags t
         WHERE t.project = $1 AND t.object_id = n.object_id AND t.digest = n.digest ORDER BY t.tag) AS tags,
       ARRAY(SELECT a.alias FROM tracing.object_aliases a
         WHERE a.project = $1 AND a.object_id = n.object_id AND a.digest = n.digest ORDER BY a.alias) AS aliases
     FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS n (object_id, digest, ordinal) ORDER BY n.ordinal`,
    [project, versions.map(({ objectId }) => objectId), versions.map(({ digest }) => digest)],
  )
  return rows
}

/** The digests of an object's aliases, of those aliases that exist. */
export async function listObjectAliases(
  pool: Pool,
  project: number,
  { objectId, aliases }: { objectId: string; aliases: string[] },
): Promise<Map<string, string>> {
  const { rows } = await pool.query<{ alias: string; digest: string }>(
    `SELECT alias, digest FROM tracing.object_aliases WHERE project = $1 AND object_id = $2 AND alias = ANY($3)`,
    [project, objectId, aliases],
  )
  return new Map(rows.map(({ alias, digest }) => [alias, digest]))
}
