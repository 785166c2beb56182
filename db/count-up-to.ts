import type { Pool } from './pool.ts'

/** Rows to count: a SELECT without columns, order and limit. */
interface Counted {
  text: string
  values: readonly unknown[]
}

/** Counts the rows of a list, up to `most`. */
export async function countUpTo(pool: Pool, { text, values }: Counted, most: number): Promise<number> {
  const { rows } = await pool.query<{ total: number }>(
    `SELECT count(*) AS total FROM (${text} LIMIT $${values.length + 1}) AS found`,
    [...values, most],
  )
  return rows[0]!.total
}
