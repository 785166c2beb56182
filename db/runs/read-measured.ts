import { findRequest, runForAnswer } from '../../lib/request-scope.ts'
import { withTransaction, type Connection, type Pool } from '../pool.ts'

/** A SELECT, and the SQL of the bytes of one of its rows. */
export interface MeasuredSelect {
  sql: string
  values: unknown[]
  bytes: string
}

/**
 * Reads rows whose texts may be large. Postgres chooses the rows and adds up their bytes. Only the first of them is in
 * memory before the answer that they are for has room for all.
 */
export async function readMeasured<Row extends object>(
  pool: Pool,
  { sql, values, bytes }: MeasuredSelect,
): Promise<Row[]> {
  const answer = findRequest()?.answer
  const read = async (connection: Connection) => {
    const all = `SELECT *, (sum(${bytes}) OVER ())::bigint AS "allBytes" FROM (${sql}) AS chosen`
    await connection.query(`DECLARE chosen NO SCROLL CURSOR FOR ${all}`, values)
    const { rows: first } = await connection.query<Row & { allBytes: number }>('FETCH 1 FROM chosen')
    if (!first[0]) return []
    answer?.read(first[0].allBytes)
    const { rows: others } = await connection.query<Row>('FETCH ALL FROM chosen')
    return [...first, ...others]
  }
  return runForAnswer(undefined, () => withTransaction(pool, read))
}
