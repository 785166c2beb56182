import type { Pool } from '../pool.ts'
import { fromVersions, versionColumns, type ObjectVersion } from './objects.ts'

/** Selects versions. A filter that is undefined or null matches all versions. */
export interface VersionFilter {
  objectIds?: string[] | null
  isOp?: boolean | null
  latestOnly?: boolean | null
  baseObjectClasses?: string[] | null
  excludeBaseObjectClasses?: string[] | null
  leafObjectClasses?: string[] | null
  /** Matches any of these. */
  tags?: string[] | null
  /** Matches any of these. `latest` is an alias too. */
  aliases?: string[] | null
}

export interface VersionOrder {
  by: 'object_id' | 'created_at'
  direction: 'asc' | 'desc'
}

export interface VersionPage {
  order: VersionOrder[]
  limit: number | null
  offset: number
}

/** A listed version. Its value is there if all values up to it fit into `valueBytes`. */
export type ListedVersion = ObjectVersion & { val: string | null }

/** Lists the live versions that match a filter, in order, with values of up to `valueBytes` in total. */
export async function listVersions(
  pool: Pool,
  project: number,
  { filter, page, valueBytes }: { filter: VersionFilter; page: VersionPage; valueBytes: number },
): Promise<ListedVersion[]> {
  const { rows } = await pool.query<ListedVersion>(
    `SELECT page.*, CASE WHEN sum(page.size) OVER (ORDER BY page.rank) <= $12 THEN stored.val END AS val
     FROM (
       SELECT listed.*, row_number() OVER (ORDER BY ${writeOrder(page.order, listedNames)}) AS rank
       FROM (
         SELECT ${versionColumns} FROM ${fromVersions} WHERE ${conditions}
         ORDER BY ${writeOrder(page.order, storedNames)} LIMIT $10 OFFSET $11
       ) listed
     ) page
     JOIN tracing.object_versions stored ON stored.project = $1 AND stored.object_id = page."objectId"
       AND stored.kind = page.kind AND stored.digest = page.digest
     ORDER BY page.rank`,
    [project, ...listFilter(filter), page.limit, page.offset, valueBytes],
  )
  return rows
}

const storedNames = { object_id: 'v.object_id', created_at: 'v.created_at', version_index: 'v.version_index' }
const listedNames = {
  object_id: 'listed."objectId"',
  created_at: 'listed."createdAt"',
  version_index: 'listed."versionIndex"',
}

/** The requested order, then oldest first. An index has the versions of a project in that order. */
function writeOrder(wanted: VersionOrder[], names: typeof storedNames): string {
  const keys = wanted.map(({ by, direction }) => `${names[by]} ${direction === 'desc' ? 'DESC' : 'ASC'}`)
  return [...keys, names.created_at, names.object_id, names.version_index].join(', ')
}

function listFilter(filter: VersionFilter): unknown[] {
  return [
    filter.objectIds,
    filter.isOp,
    filter.latestOnly,
    filter.baseObjectClasses,
    filter.excludeBaseObjectClasses,
    filter.leafObjectClasses,
    filter.tags,
    filter.aliases,
  ]
}

// Any filter of classes leaves out versions without a class.
const conditions = `v.project = $1 AND v.deleted_at IS NULL
  AND ($2::text[] IS NULL OR v.object_id = ANY($2))
  AND ($3::boolean IS NULL OR (v.kind = 'op') = $3)
  AND ($4::boolean IS NOT TRUE OR v.digest = o.latest)
  AND ($5::text[] IS NULL OR v.base_object_class = ANY($5))
  AND ($6::text[] IS NULL OR v.base_object_class <> ALL($6))
  AND ($7::text[] IS NULL OR v.leaf_object_class = ANY($7))
  AND ($8::text[] IS NULL OR EXISTS (
    SELECT FROM tracing.object_tags t
    WHERE t.project = $1 AND t.object_id = v.object_id AND t.digest = v.digest AND t.tag = ANY($8)))
  AND ($9::text[] IS NULL OR 'latest' = ANY($9) AND v.digest = o.latest OR EXISTS (
    SELECT FROM tracing.object_aliases a
    WHERE a.project = $1 AND a.object_id = v.object_id AND a.digest = v.digest AND a.alias = ANY($9)))`

/** Names a version of a project. The digests of an op and of an object are never equal. */
export interface VersionName {
  objectId: string
  digest: string
}

/** Reads versions, deleted or not, with values of up to `valueBytes` in total. */
export async function readVersions(
  pool: Pool,
  project: number,
  { names, valueBytes }: { names: VersionName[]; valueBytes: number },
): Promise<ReadVersion[]> {
  const { rows } = await pool.query<ReadVersion>(
    `SELECT v.object_id AS "objectId", v.digest, v.size, v.deleted_at IS NOT NULL AS "isDeleted",
       v.leaf_object_class AS "leafObjectClass",
       CASE WHEN sum(v.size) OVER (ORDER BY n.rank) <= $4 THEN v.val END AS val
     FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS n (object_id, digest, rank),
       LATERAL (
         SELECT * FROM tracing.object_versions
         WHERE project = $1 AND object_id = n.object_id AND kind IN ('op', 'object') AND digest = n.digest
         OFFSET 0 -- else all versions of the project may be gone through, for one look at them instead of many
       ) v`,
    [project, names.map(({ objectId }) => objectId), names.map(({ digest }) => digest), valueBytes],
  )
  return rows
}

/** A version with its value. The value is missing if it exceeds the limit. */
export interface ReadVersion extends VersionName {
  isDeleted: boolean
  leafObjectClass: string | null
  /** The size of the value in bytes. */
  size: number
  val: string | null
}
