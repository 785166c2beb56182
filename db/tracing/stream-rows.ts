import type { Connection, Pool } from '../pool.ts'

/** A statement with its parameters. */
export interface Statement {
  text: string
  values: unknown[]
  /** About how many bytes a row of it may have, if the largest texts were stored that are taken. */
  maxRowBytes: number
}

// The first rows come at once; then as many as are worth a round trip and fit into memory whatever they hold.
const firstRows = 100
const maxRows = 1_000
const maxBytes = 4 * 1024 * 1024

/**
 * The rows of a query in chunks, in bounded memory however many there are, all as of the same moment. The connection is
 * held until the last chunk was taken or the iteration was left.
 *
 * @param complete puts into rows what a statement of its own has to read, as of that moment, and may give them in parts
 */
export async function* streamRows<Row>(
  pool: Pool,
  { text, values, maxRowBytes }: Statement,
  complete?: (connection: Connection, rows: Row[]) => AsyncIterable<Row[]>,
): AsyncGenerator<Row[], void, undefined> {
  const client = await pool.connect()
  let failure: Error | undefined
  try {
    // A plan that gives its first rows soon is better than one that gives the last ones soon.
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
