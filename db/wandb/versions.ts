import type { ArtifactName } from '../artifacts/versions.ts'
import { saveVersionFiles } from '../checkpoints/versions.ts'
import type { Connection, Pool } from '../pool.ts'

/** A file of a version: in the store, or elsewhere. */
export interface VersionFile {
  path: string
  size: number
  /** The sha256 of a blob of the entity. */
  digest?: string
  /** The key of another object in the store. */
  key?: string
  /** In hex. Undefined: not known yet. */
  md5?: string
  /** The address of a reference. */
  ref?: string
  /** What the client says about the content of a reference. */
  etag?: string
  extra?: Record<string, unknown>
}

/** A version of an artifact, without its files. */
export interface Version extends ArtifactName {
  id: string
  collectionId: string
  type: string
  collectionDescription: string | null
  /** Whether it is a checkpoint. Its collection's id is then the model's. */
  isCheckpoint: boolean
  /** -1 is step 0 of a model. */
  version: number
  isLatest: boolean
  /** Null: not computed yet. */
  manifestDigest: string | null
  size: number
  fileCount: number
  metadata: Record<string, unknown>
  description: string | null
  tags: string[]
  runName: string | null
  createdAt: Date
  updatedAt: Date | null
  /** Without `latest`. */
  aliases: string[]
}

export interface Collection extends ArtifactName {
  id: string
  /** Whether it is a model, whose versions are its checkpoints. */
  isModel: boolean
  type: string
  description: string | null
  createdAt: Date
}

export interface VersionPage {
  after: number | undefined
  limit: number
  order: 'asc' | 'desc'
}

// The view has uploaded versions, and the checkpoints of models.
const columns = `v.id, v.collection_id AS "collectionId", v.entity, v.project, v.name, v.type,
  v.collection_description AS "collectionDescription", v.is_checkpoint AS "isCheckpoint", v.version,
  v.is_latest AS "isLatest", v.manifest_digest AS "manifestDigest", v.size, jsonb_array_length(v.files) AS "fileCount",
  v.metadata, v.description, v.tags, v.run_name AS "runName", v.created_at AS "createdAt",
  v.updated_at AS "updatedAt", v.aliases`
const from = 'training.versions v'
const named = 'v.entity = $1 AND v.project = $2 AND v.name = $3'
const collectionColumns =
  'a.id, a.entity, a.project, a.name, a.type, a.description, a.created_at AS "createdAt", a.is_model AS "isModel"'
const collections = 'training.collections a'

/** A run that has logged versions. */
export type LoggingRun = ArtifactName & { createdAt: Date }

// An earlier run may have had the same name.
const logged = 'v.entity = $1 AND v.project = $2 AND v.run_name = $3 AND v.created_at >= $4'
const listRun = ({ entity, project, name, createdAt }: LoggingRun) => [entity, project, name, createdAt]
const listName = ({ entity, project, name }: ArtifactName) => [entity, project, name]

export async function findVersionById(pool: Pool, entity: string, id: string): Promise<Version | undefined> {
  const { rows } = await pool.query<Version>(`SELECT ${columns} FROM ${from} WHERE v.entity = $1 AND v.id = $2`, [
    entity,
    id,
  ])
  return rows[0]
}

/** Finds a version by an alias, by its number (`v3`), or the newest one (`latest`). */
export async function findVersionByAlias(pool: Pool, name: ArtifactName, alias: string): Promise<Version | undefined> {
  const number = /^v(-1|\d{1,9})$/.exec(alias)?.[1]
  const { rows } = await pool.query<Version>(
    `SELECT ${columns} FROM ${from} WHERE ${named} AND CASE
       WHEN $4::integer IS NOT NULL THEN v.version = $4
       WHEN $5 = 'latest' THEN v.is_latest
       ELSE $5 = ANY (v.aliases) END
     ORDER BY v.version DESC LIMIT 1`,
    [...listName(name), number === undefined ? null : Number(number), alias],
  )
  return rows[0]
}

/** Finds the newest version with this content. */
export async function findVersionByDigest(
  connection: Connection,
  name: ArtifactName,
  digest: string,
): Promise<Version | undefined> {
  const { rows } = await connection.query<Version>(
    `SELECT ${columns} FROM ${from} WHERE ${named} AND v.manifest_digest = $4 ORDER BY v.version DESC LIMIT 1`,
    [...listName(name), digest],
  )
  return rows[0]
}

export async function listVersionsOf(pool: Pool, name: ArtifactName, page: VersionPage): Promise<Version[]> {
  const [comparison, direction] = page.order === 'desc' ? ['<', 'DESC'] : ['>', 'ASC']
  const { rows } = await pool.query<Version>(
    `SELECT ${columns} FROM ${from} WHERE ${named} AND ($4::integer IS NULL OR v.version ${comparison} $4)
     ORDER BY v.version ${direction} LIMIT $5`,
    [...listName(name), page.after ?? null, page.limit],
  )
  return rows
}

/** Versions that a run has logged, by name and number. Versions of an earlier run with its name are not among them. */
export async function listVersionsOfRun(
  pool: Pool,
  run: LoggingRun,
  { after, limit }: { after: Pick<Version, 'name' | 'version'> | undefined; limit: number },
): Promise<Version[]> {
  const { rows } = await pool.query<Version>(
    `SELECT ${columns} FROM ${from} WHERE ${logged} AND ($5::text IS NULL OR (v.name, v.version) > ($5, $6::integer))
     ORDER BY v.name, v.version LIMIT $7`,
    [...listRun(run), after?.name ?? null, after?.version ?? null, limit],
  )
  return rows
}

export async function countVersionsOfRun(pool: Pool, run: LoggingRun): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(`SELECT count(*) FROM ${from} WHERE ${logged}`, listRun(run))
  return rows[0]!.count
}

export async function countVersionsOf(pool: Pool, name: ArtifactName): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(`SELECT count(*) FROM ${from} WHERE ${named}`, listName(name))
  return rows[0]!.count
}

/** The files of a version, by path. */
export async function listFilesOf(pool: Pool, id: string): Promise<VersionFile[]> {
  const { rows } = await pool.query<{ files: VersionFile[] }>('SELECT files FROM training.versions WHERE id = $1', [id])
  return rows[0]?.files ?? []
}

/** Records md5s that were computed after the upload, and the digest that follows from them. */
export async function recordDigests(pool: Pool, id: string, files: VersionFile[], digest: string): Promise<void> {
  const { rowCount } = await pool.query(
    'UPDATE training.artifact_versions SET files = $2, manifest_digest = $3 WHERE id = $1',
    [id, JSON.stringify(files), digest],
  )
  if (rowCount === 0) await saveVersionFiles(pool, id, { files, digest })
}

export async function findCollection(pool: Pool, name: ArtifactName): Promise<Collection | undefined> {
  const { rows } = await pool.query<Collection>(
    `SELECT ${collectionColumns} FROM ${collections} WHERE a.entity = $1 AND a.project = $2 AND a.name = $3`,
    listName(name),
  )
  return rows[0]
}

export async function findCollectionById(pool: Pool, entity: string, id: string): Promise<Collection | undefined> {
  const { rows } = await pool.query<Collection>(
    `SELECT ${collectionColumns} FROM ${collections} WHERE a.entity = $1 AND a.id = $2`,
    [entity, id],
  )
  return rows[0]
}

/** The id of the version that a client made under this id of its own, also while it is being uploaded. */
export async function findVersionByClientId(pool: Pool, entity: string, clientId: string): Promise<string | undefined> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT v.id FROM ${from} WHERE v.entity = $1 AND v.client_id = $2
     UNION ALL SELECT p.id FROM training.pending_artifacts p WHERE p.entity = $1 AND p.client_id = $2 LIMIT 1`,
    [entity, clientId],
  )
  return rows[0]?.id
}

/** Lists collections of a project by name, of one type or of all. */
export async function listCollections(
  pool: Pool,
  { entity, project }: { entity: string; project: string },
  { type, after, limit }: { type: string | undefined; after: string; limit: number },
): Promise<Collection[]> {
  const { rows } = await pool.query<Collection>(
    `SELECT ${collectionColumns} FROM ${collections}
     WHERE a.entity = $1 AND a.project = $2 AND ($3::text IS NULL OR a.type = $3) AND a.name > $4
     ORDER BY a.name LIMIT $5`,
    [entity, project, type ?? null, after, limit],
  )
  return rows
}

export async function countCollections(
  pool: Pool,
  { entity, project }: { entity: string; project: string },
  type: string | undefined,
): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `SELECT count(*) FROM ${collections}
     WHERE a.entity = $1 AND a.project = $2 AND ($3::text IS NULL OR a.type = $3)`,
    [entity, project, type ?? null],
  )
  return rows[0]!.count
}

/** The type of some artifacts of a project, since its first one. */
export interface ArtifactType {
  name: string
  createdAt: Date
}

/** The types of a project's artifacts. */
export async function listTypes(
  pool: Pool,
  { entity, project }: { entity: string; project: string },
): Promise<ArtifactType[]> {
  const { rows } = await pool.query<ArtifactType>(
    `SELECT a.type AS name, min(a.created_at) AS "createdAt" FROM ${collections}
     WHERE a.entity = $1 AND a.project = $2 GROUP BY a.type ORDER BY a.type`,
    [entity, project],
  )
  return rows
}

export async function hasArtifacts(pool: Pool, entity: string, project: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    `SELECT FROM training.artifacts WHERE entity = $1 AND project = $2
     UNION ALL SELECT FROM training.pending_artifacts WHERE entity = $1 AND project = $2
     UNION ALL SELECT FROM training.models WHERE entity = $1 AND project = $2 AND deleted_at IS NULL AND hidden_at IS NULL
     LIMIT 1`,
    [entity, project],
  )
  return rowCount !== 0
}
