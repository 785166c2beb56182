import type { Pool } from '../pool.ts'

/** The content of a file, or its key in the artifact store. */
export type FileStorage = { content: Buffer } | { artifactKey: string }

/** Stores a file of a project. An existing one stays as it is. */
export async function addFile(
  pool: Pool,
  project: number,
  { digest, size, storage }: { digest: string; size: number; storage: FileStorage },
): Promise<void> {
  const content = 'content' in storage ? storage.content : null
  const artifactKey = 'artifactKey' in storage ? storage.artifactKey : null
  await pool.query(
    `INSERT INTO tracing.files (project, digest, size, content, artifact_key) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT DO NOTHING`,
    [project, digest, size, content, artifactKey],
  )
}

export async function hasFile(pool: Pool, project: number, digest: string): Promise<boolean> {
  const { rows } = await pool.query('SELECT FROM tracing.files WHERE project = $1 AND digest = $2', [project, digest])
  return rows.length > 0
}

export interface StoredFile {
  size: number
  content: Buffer | null
  /** The key in the artifact store, if the content is not in the database. */
  artifactKey: string | null
}

export async function findFile(pool: Pool, project: number, digest: string): Promise<StoredFile | undefined> {
  const { rows } = await pool.query<StoredFile>(
    `SELECT size, content, artifact_key AS "artifactKey" FROM tracing.files WHERE project = $1 AND digest = $2`,
    [project, digest],
  )
  return rows[0]
}

/** The total bytes of a project's files. */
export async function sumFiles(pool: Pool, project: number): Promise<number> {
  const { rows } = await pool.query<{ bytes: number }>(
    'SELECT coalesce(sum(size), 0)::bigint AS bytes FROM tracing.files WHERE project = $1',
    [project],
  )
  return rows[0]!.bytes
}
