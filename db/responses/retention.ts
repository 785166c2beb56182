import type { Pool } from '../pool.ts'

/** How much an entity can have stored. */
export interface ResponseLimits {
  maxCount: number
  maxBytes: number
}

// One statement must end well within its time limit.
const rowsAtOnce = 1_000

/** Removes an entity's oldest responses beyond its limits. */
export async function removeOldestResponses(
  pool: Pool,
  entity: string,
  { maxCount, maxBytes }: ResponseLimits,
): Promise<void> {
  await pool.query(
    `DELETE FROM training.responses WHERE id IN (
       SELECT id FROM (
         SELECT id, row_number() OVER newest AS rank, sum(bytes) OVER newest AS total
         FROM training.responses WHERE entity = $1 WINDOW newest AS (ORDER BY created_at DESC, id)
       ) kept WHERE rank > $2 OR total > $3)`,
    [entity, maxCount, maxBytes],
  )
}

/** Removes conversations whose last response is 30 days old. */
export async function expireResponses(pool: Pool): Promise<void> {
  for (let removed = rowsAtOnce; removed === rowsAtOnce;) {
    const { rowCount } = await pool.query(
      `DELETE FROM training.responses WHERE id IN (
         SELECT id FROM training.responses r WHERE created_at < now() - interval '30 days'
           AND NOT EXISTS (
             SELECT FROM training.responses n WHERE n.root_id = r.root_id AND n.created_at >= now() - interval '30 days')
         LIMIT ${rowsAtOnce})`,
    )
    removed = rowCount ?? 0
  }
}
