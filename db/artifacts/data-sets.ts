import type { Pool } from '../pool.ts'
import type { ArtifactName } from './versions.ts'

/** A data set with its newest versions. */
export interface DataSetRow extends ArtifactName {
  id: string
  type: string
  createdAt: Date
  versionCount: number
  /** At most ten, the newest first. `files` is how many files it has. */
  versions: { id: string; version: number; size: number; files: number; createdAt: string }[]
}

interface Filter {
  entity: string
  project: string | undefined
  type: string | undefined
}

/** The position of a data set in the list. */
type Position = Pick<ArtifactName, 'project' | 'name'>

const listedVersions = 10
const filtered = `a.entity = $1 AND ($2::text IS NULL OR a.project = $2) AND ($3::text IS NULL OR a.type = $3)`
const listFilter = ({ entity, project, type }: Filter) => [entity, project ?? null, type ?? null]

/** The position of a data set of this list, by its id. */
export async function findDataSetPosition(pool: Pool, filter: Filter, id: string): Promise<Position | undefined> {
  const { rows } = await pool.query<Position>(
    `SELECT a.project, a.name FROM training.artifacts a WHERE ${filtered} AND a.id = $4`,
    [...listFilter(filter), id],
  )
  return rows[0]
}

/** Lists a page of an entity's data sets by project and name. A name without a version is no data set yet. */
export async function listDataSets(
  pool: Pool,
  filter: Filter,
  { after, order, limit }: { after: Position | undefined; order: 'asc' | 'desc'; limit: number },
): Promise<DataSetRow[]> {
  const [comparison, direction] = order === 'desc' ? ['<', 'DESC'] : ['>', 'ASC']
  const { rows } = await pool.query<DataSetRow>(
    `SELECT a.id, a.entity, a.project, a.name, a.type, a.created_at AS "createdAt",
       (SELECT count(*) FROM training.artifact_versions v WHERE v.artifact_id = a.id) AS "versionCount",
       (SELECT jsonb_agg(newest ORDER BY newest.version DESC) FROM (
          SELECT v.id, v.version, v.size, jsonb_array_length(v.files) AS files, v.created_at AS "createdAt"
          FROM training.artifact_versions v WHERE v.artifact_id = a.id ORDER BY v.version DESC LIMIT ${listedVersions}
        ) AS newest) AS versions
     FROM training.artifacts a
     WHERE ${filtered} AND ($4::text IS NULL OR (a.project, a.name) ${comparison} ($4, $5::text))
       AND EXISTS (SELECT FROM training.artifact_versions v WHERE v.artifact_id = a.id)
     ORDER BY a.project ${direction}, a.name ${direction} LIMIT $6`,
    [...listFilter(filter), after?.project ?? null, after?.name ?? null, limit],
  )
  return rows
}
