import { withTransaction, type Pool } from '../pool.ts'

/** Called with the bytes of texts before they are read. It throws if they are too many. */
export type Accept = (bytes: number) => void

/** A SELECT, and the SQL of the bytes of one of its rows. */
export interface MeasuredSelect {
  sql: string
  values: unknown[]
  bytes: string
}

/**
 * Reads rows whose texts may be large. Postgres chooses the rows and adds up their bytes. Only the first of them is in
 * memory before `accept` has accepted all.
 */
export async function readMeasured<Row extends object>(
  pool: Pool,
  { sql, values, bytes }: MeasuredSelect,
  accept: Accept,
): Promise<Row[]> {
  return withTransaction(pool, async (connection) => {
    const all = `SELECT *, (sum(${bytes}) OVER ())::bigint AS "allBytes" FROM (${sql}) AS chosen`
    await connection.query(`DECLARE chosen NO SCROLL CURSOR FOR ${all}`, values)
    const { rows: first } = await connection.query<Row & { allBytes: number }>('FETCH 1 FROM chosen')
    if (!first[0]) return []
    accept(first[0].allBytes)
    const { rows: others } = await connection.query<Row>('FETCH ALL FROM chosen')
    return [...first, ...others]
  })
}
