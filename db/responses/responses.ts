import { column, insertRow, type RowOf } from '../columns.ts'
import type { Pool } from '../pool.ts'
import { withTransaction } from '../pool.ts'

export const responseColumns = {
  id: column<string>('id', 'text'),
  entity: column<string>('entity', 'text'),
  /** The project that its usage is charged to. */
  project: column<string | null>('project', 'text'),
  /** The response that it continues. */
  previousId: column<string | null>('previous_id', 'text'),
  /** The first response of its conversation. */
  rootId: column<string>('root_id', 'text'),
  /** When it was requested. */
  createdAt: column<Date>('created_at', 'timestamptz'),
  /** The bytes of both texts. */
  bytes: column<number>('bytes', 'bigint'),
  /** JSON: the items of its own input. */
  input: column<string>('input', 'text'),
  /** JSON: the response as it was sent. */
  response: column<string>('response', 'text'),
}

/** A stored response. Its entity can read it again and continue it. */
export type ResponseRow = RowOf<typeof responseColumns>

export type ResponseTexts = Pick<ResponseRow, 'input' | 'response'>

// The clocks of the database and its clients may differ by this much.
const clockSkew = "interval '5 seconds'"

/** Stores a response, unless its entity or project was erased after it was requested. */
export async function insertResponse(pool: Pool, row: ResponseRow): Promise<void> {
  const { names, parameters, values } = insertRow(responseColumns, row)
  await withTransaction(pool, async (connection) => {
    await connection.query(`INSERT INTO training.responses (${names}) VALUES (${parameters})`, values)
    await connection.query(
      `DELETE FROM training.responses r USING training.erasures e
       WHERE r.id = $1 AND e.entity = r.entity AND (e.project IS NULL OR e.project = r.project)
         AND e.requested_at >= r.created_at - ${clockSkew}`,
      [row.id],
    )
  })
}

/** The texts of a response of an entity. */
export async function findResponse(pool: Pool, entity: string, id: string): Promise<ResponseTexts | undefined> {
  const { rows } = await pool.query<ResponseTexts>(
    'SELECT input, response FROM training.responses WHERE id = $1 AND entity = $2',
    [id, entity],
  )
  return rows[0]
}

/** Removes a response of an entity. Returns false if there is none. */
export async function deleteResponse(pool: Pool, entity: string, id: string): Promise<boolean> {
  const { rowCount } = await pool.query('DELETE FROM training.responses WHERE id = $1 AND entity = $2', [id, entity])
  return rowCount === 1
}
