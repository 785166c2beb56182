import { withTransaction, type Connection, type Pool } from '../pool.ts'
import { lockBlobs, type Blob } from './blobs.ts'

export interface ArtifactName {
  entity: string
  project: string
  name: string
}

export interface ArtifactFile extends Blob {
  path: string
}

/** One version of an uploaded data set. It never changes. */
export interface ArtifactVersion extends ArtifactName, Blob {
  id: string
  version: number
  files: ArtifactFile[]
  metadata: Record<string, unknown>
  createdAt: Date
}

export interface NewArtifactVersion extends Omit<ArtifactVersion, 'version' | 'createdAt'> {
  keyId: string
}

// References of the wandb SDK are not in the store.
const storedFiles = `CASE WHEN v.files @? '$[*].ref' OR v.files @? '$[*].key' THEN
  coalesce((SELECT jsonb_agg(f) FROM jsonb_array_elements(v.files) AS f WHERE f ? 'digest'), '[]') ELSE v.files END AS files`
const columns = `v.id, a.entity, a.project, a.name, v.version, v.digest, v.size, ${storedFiles}, v.metadata,
  v.created_at AS "createdAt"`
const from = 'training.artifact_versions v JOIN training.artifacts a ON a.id = v.artifact_id'
const named = 'a.entity = $1 AND a.project = $2 AND a.name = $3'

const listName = ({ entity, project, name }: ArtifactName) => [entity, project, name]

/**
 * Adds a version whose files are in the store. If the newest version is equal, returns that one. The lock on the name's
 * row orders concurrent calls: each gets a version of its own. Returns the missing files if there are any.
 */
export async function addArtifactVersion(
  pool: Pool,
  added: NewArtifactVersion,
): Promise<ArtifactVersion | { missing: ArtifactFile[] }> {
  return withTransaction(pool, async (connection) => {
    const missing = await findMissing(connection, added)
    if (missing.length > 0) return { missing }
    const artifactId = await lockName(connection, added)
    const newest = await findNewest(connection, artifactId)
    return newest?.digest === added.digest ? newest : insertVersion(connection, artifactId, added)
  })
}

async function findMissing(connection: Connection, { entity, files }: NewArtifactVersion): Promise<ArtifactFile[]> {
  const there = await lockBlobs(connection, entity, [...new Set(files.map(({ digest }) => digest))])
  const sizes = new Map(there.map(({ digest, size }) => [digest, size]))
  return files.filter(({ digest, size }) => sizes.get(digest) !== size)
}

async function lockName(connection: Connection, name: ArtifactName): Promise<string> {
  const { rows } = await connection.query<{ id: string }>(
    `INSERT INTO training.artifacts (entity, project, name) VALUES ($1, $2, $3)
     ON CONFLICT (entity, project, name) DO UPDATE SET last_version = artifacts.last_version RETURNING id`,
    listName(name),
  )
  return rows[0]!.id
}

async function findNewest(connection: Connection, artifactId: string): Promise<ArtifactVersion | undefined> {
  const { rows } = await connection.query<ArtifactVersion>(
    `SELECT ${columns} FROM ${from} WHERE v.artifact_id = $1 ORDER BY v.version DESC LIMIT 1`,
    [artifactId],
  )
  return rows[0]
}

async function insertVersion(
  connection: Connection,
  artifactId: string,
  { id, entity, project, name, digest, size, files, metadata, keyId }: NewArtifactVersion,
): Promise<ArtifactVersion> {
  const { rows } = await connection.query<{ version: number; createdAt: Date }>(
    `WITH given AS (
       UPDATE training.artifacts SET last_version = last_version + 1 WHERE id = $2 RETURNING last_version
     )
     INSERT INTO training.artifact_versions (id, artifact_id, version, digest, size, files, metadata, key_id)
     SELECT $1, $2, last_version, $3, $4, $5, $6, $7 FROM given RETURNING version, created_at AS "createdAt"`,
    [id, artifactId, digest, size, JSON.stringify(files), JSON.stringify(metadata), keyId],
  )
  return { id, entity, project, name, digest, size, files, metadata, ...rows[0]! }
}

/** Finds a version by its number, or the newest one. */
export async function findArtifactVersion(
  pool: Pool,
  name: ArtifactName,
  version: number | 'latest',
): Promise<ArtifactVersion | undefined> {
  const { rows } = await pool.query<ArtifactVersion>(
    `SELECT ${columns} FROM ${from} WHERE ${named} AND ($4::integer IS NULL OR v.version = $4)
     ORDER BY v.version DESC LIMIT 1`,
    [...listName(name), version === 'latest' ? null : version],
  )
  return rows[0]
}

/** Lists a page of a data set's versions that follow the version `after` in the given order. */
export async function listArtifactVersions(
  pool: Pool,
  name: ArtifactName,
  page: { after: number | undefined; order: 'asc' | 'desc'; limit: number },
): Promise<ArtifactVersion[]> {
  const [comparison, direction] = page.order === 'desc' ? ['<', 'DESC'] : ['>', 'ASC']
  const { rows } = await pool.query<ArtifactVersion>(
    `SELECT ${columns} FROM ${from} WHERE ${named} AND ($4::integer IS NULL OR v.version ${comparison} $4)
     ORDER BY v.version ${direction} LIMIT $5`,
    [...listName(name), page.after ?? null, page.limit],
  )
  return rows
}

/** The number of a version of this data set, by its id. */
export async function findArtifactCursor(pool: Pool, name: ArtifactName, id: string): Promise<number | undefined> {
  const { rows } = await pool.query<{ version: number }>(`SELECT v.version FROM ${from} WHERE ${named} AND v.id = $4`, [
    ...listName(name),
    id,
  ])
  return rows[0]?.version
}
