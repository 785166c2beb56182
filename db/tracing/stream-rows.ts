import type { Pool } from '../pool.ts'

/** A statement with its parameters. */
export interface Statement {
  text: string
  values: unknown[]
}

// The first rows come at once; then as many as are worth a round trip, unless they are large.
const firstRows = 100
const mostRows = 1_000
const bytesAtOnce = 4 * 1024 * 1024

/**
 * The rows of a query in chunks, in bounded memory however many there are, all as of the same moment. The connection is
 * held until the last chunk was taken or the iteration was left.
 *
 * @param sizeOf about how many bytes a row has
 */
export async function* streamRows<Row>(
  pool: Pool,
  { text, values }: Statement,
  sizeOf: (row: Row) => number,
): AsyncGenerator<Row[], void, undefined> {
  const client = await pool.connect()
  let failure: Error | undefined
  try {
    // A plan that gives its first rows soon is better than one that gives the last ones soon.
    await client.query('BEGIN READ ONLY; SET LOCAL cursor_tuple_fraction = 0.001')
    await client.query(`DECLARE found NO SCROLL CURSOR FOR ${text}`, values)
    for (let wanted = firstRows, more = true; more;) {
      const { rows } = await client.query(`FETCH ${wanted} FROM found`)
      more = rows.length === wanted
      if (rows.length > 0) yield rows as Row[]
      wanted = planFetch(rows as Row[], sizeOf)
    }
  } catch (error) {
    failure = error as Error
    throw error
  } finally {
    await client.query('ROLLBACK').then(
      () => client.release(),
      () => client.release(failure ?? true),
    )
  }
}

function planFetch<Row>(rows: Row[], sizeOf: (row: Row) => number): number {
  const bytes = rows.reduce((sum, row) => sum + sizeOf(row), 0)
  const each = bytes / Math.max(rows.length, 1)
  return Math.max(1, Math.min(mostRows, Math.floor(bytesAtOnce / Math.max(each, 1))))
}
