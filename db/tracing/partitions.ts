import { withTransaction, type Connection, type Pool } from '../pool.ts'

// Whoever waits for a lock on the table of calls keeps everybody else waiting. Next time is early enough.
const lockTimeout = '2s'

/** Makes the partitions of this week and the coming ones. */
export async function addWeeks(pool: Pool, weeksAhead: number): Promise<void> {
  await withTransaction(pool, async (connection) => {
    await connection.query(`SET LOCAL lock_timeout = '${lockTimeout}'`)
    await connection.query('SELECT tracing.add_week(tracing.this_week() + n) FROM generate_series(0, $1::int) AS n', [
      weeksAhead,
    ])
  })
}

/** The weeks that have a partition and are over for so many days, oldest first. */
export async function listOldWeeks(pool: Pool, days: number): Promise<number[]> {
  const { rows } = await pool.query<{ week: number }>(
    `SELECT week FROM (
       SELECT substring(c.relname FROM '^calls_w(\\d+)$')::int AS week
       FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'tracing.calls'::regclass
     ) AS partitions
     WHERE to_timestamp((week + 1) * 604800.0) < now() - make_interval(days => $1) ORDER BY week`,
    [days],
  )
  return rows.map(({ week }) => week)
}

/** Whether a week's partition has a call that began later than so many days ago, whatever its id says. */
export async function hasYoungCalls(pool: Pool, week: number, days: number): Promise<boolean> {
  const { rows } = await pool.query(
    `SELECT FROM tracing.projects p, LATERAL (
       SELECT FROM ${nameOf(week)} c
       WHERE c.project = p.number AND c.started_at IS NOT NULL AND c.deleted_at IS NULL
         AND c.started_at >= now() - make_interval(days => $1) LIMIT 1
     ) AS young LIMIT 1`,
    [days],
  )
  return rows.length > 0
}

/** The keys of what a week's calls have in the artifact store, in portions. */
export async function listSpilledOfWeek(pool: Pool, week: number, after: string, limit: number): Promise<string[]> {
  const { rows } = await pool.query<{ key: string }>(
    `SELECT DISTINCT part.value ->> 'key' AS key FROM ${nameOf(week)} c, jsonb_each(c.spilled) AS part
     WHERE c.spilled IS NOT NULL AND part.value ->> 'key' > $1 ORDER BY 1 LIMIT $2`,
    [after, limit],
  )
  return rows.map(({ key }) => key)
}

/** Drops a week's partition with all that is in it. */
export async function dropWeek(pool: Pool, week: number): Promise<void> {
  await withTransaction(pool, async (connection: Connection) => {
    await connection.query(`SET LOCAL lock_timeout = '${lockTimeout}'`)
    await connection.query(`DROP TABLE ${nameOf(week)}`)
  })
}

function nameOf(week: number): string {
  return `tracing.calls_w${Math.trunc(week)}`
}
