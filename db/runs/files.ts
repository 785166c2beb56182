import { column, selectColumns, type RowOf } from '../columns.ts'
import { withTransaction, type Pool } from '../pool.ts'
import { lockBlobs } from '../artifacts/blobs.ts'

export const runFileColumns = {
  id: column<string>('id', 'uuid'),
  path: column<string>('path', 'text'),
  digest: column<string>('digest', 'text'),
  size: column<number>('size', 'bigint'),
  md5: column<string>('md5', 'text'),
  updatedAt: column<Date>('updated_at', 'timestamptz'),
}

/** A file of a run. */
export type RunFileRow = RowOf<typeof runFileColumns>
export type NewRunFile = Pick<RunFileRow, 'path' | 'digest' | 'size' | 'md5'>

const columns = selectColumns(runFileColumns, 'f')

/**
 * Records a file whose bytes are stored. Another file at the same path is replaced. Returns false if the run is deleted,
 * or if the bytes were removed just now.
 */
export async function putRunFile(
  pool: Pool,
  { number, entity }: { number: number; entity: string },
  { path, digest, size, md5 }: NewRunFile,
): Promise<boolean> {
  return withTransaction(pool, async (connection) => {
    const [blob] = await lockBlobs(connection, entity, [digest])
    if (!blob) return false
    const { rowCount } = await connection.query(
      `INSERT INTO training.run_files AS f (run, entity, path, digest, size, md5)
       SELECT number, entity, $3, $4, $5, $6 FROM training.runs WHERE number = $1 AND entity = $2 AND deleted_at IS NULL
       ON CONFLICT (run, path) DO UPDATE SET digest = excluded.digest, size = excluded.size, md5 = excluded.md5,
         updated_at = now()`,
      [number, entity, path, digest, size, md5],
    )
    return rowCount === 1
  })
}

/** Which files of a run: those with these paths, or with a path that matches a pattern of LIKE. */
export interface RunFileSelection {
  run: number
  paths: string[] | undefined
  pattern: string | undefined
}

const selected = 'f.run = $1 AND ($2::text[] IS NULL OR f.path = ANY ($2)) AND ($3::text IS NULL OR f.path LIKE $3)'
const listSelected = ({ run, paths, pattern }: RunFileSelection) => [run, paths ?? null, pattern ?? null]

/** Lists files by their paths, after the path `after`. */
export async function listRunFiles(
  pool: Pool,
  selection: RunFileSelection,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<RunFileRow[]> {
  const { rows } = await pool.query<RunFileRow>(
    `SELECT ${columns} FROM training.run_files f WHERE ${selected} AND ($4::text IS NULL OR f.path > $4)
     ORDER BY f.path LIMIT $5`,
    [...listSelected(selection), after ?? null, limit],
  )
  return rows
}

/** Counts files. */
export async function countRunFiles(pool: Pool, selection: RunFileSelection): Promise<number> {
  const { rows } = await pool.query<{ files: number }>(
    `SELECT count(*) AS files FROM training.run_files f WHERE ${selected}`,
    listSelected(selection),
  )
  return rows[0]!.files
}

/** Finds a file of a run by its path. */
export async function findRunFile(pool: Pool, run: number, path: string): Promise<RunFileRow | undefined> {
  const { rows } = await pool.query<RunFileRow>(
    `SELECT ${columns} FROM training.run_files f WHERE f.run = $1 AND f.path = $2`,
    [run, path],
  )
  return rows[0]
}

/** Deletes files by their ids. Their bytes are garbage then, unless something else has them. */
export async function deleteRunFiles(pool: Pool, entity: string, ids: string[]): Promise<number> {
  const { rowCount } = await pool.query(
    `DELETE FROM training.run_files f USING training.runs r
     WHERE f.id = ANY ($2::uuid[]) AND r.number = f.run AND r.entity = $1`,
    [entity, ids],
  )
  return rowCount ?? 0
}
