import type { Connection, Pool } from '../pool.ts'

/** A statement with its parameters. */
export interface Statement {
  text: string
  values: unknown[]
  /** About the most bytes of one row, if it has the largest texts that are accepted. */
  maxRowBytes: number
}

// The first rows come at once. Later chunks have as many rows as are worth a round trip and always fit into memory.
const firstRows = 100
const maxRows = 1_000
const maxBytes = 4 * 1024 * 1024

/**
 * Reads the rows of a query in chunks, in bounded memory. All rows come from the same snapshot. The connection is held
 * until the last chunk was read or the iteration ended.
 *
 * @param complete reads more columns of the rows with another statement, in the same snapshot. It may yield the rows in
 * several parts.
 */
export async function* streamRows<Row>(
  pool: Pool,
  { text, values, maxRowBytes }: Statement,
  complete?: (connection: Connection, rows: Row[]) => AsyncIterable<Row[]>,
): AsyncGenerator<Row[], void, undefined> {
  const client = await pool.connect()
  let failure: Error | undefined
  try {
    // A plan that returns its first rows soon is better than one that returns its last rows soon.
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL cursor_tuple_fraction = 0.001')
    await client.query(`DECLARE found NO SCROLL CURSOR FOR ${text}`, values)
    const maxWanted = Math.max(1, Math.min(maxRows, Math.floor(maxBytes / maxRowBytes)))
    for (let wanted = Math.min(firstRows, maxWanted), more = true; more; wanted = maxWanted) {
      const { rows } = await client.query(`FETCH ${wanted} FROM found`)
      more = rows.length === wanted
      if (complete) yield* complete(client, rows as Row[])
      else if (rows.length > 0) yield rows as Row[]
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
