import { withTransaction, type Connection, type Pool } from '../pool.ts'
import { removeSomeCalls } from '../tracing/remove-calls.ts'

// While this waits for a lock on the table of calls, all others wait too. It is enough if the next run succeeds.
const limits = "SET LOCAL lock_timeout = '2s'; SET LOCAL statement_timeout = '3s'"

/** How long calls are kept, and how long ends wait for their start. */
export interface Kept {
  days: number
  waitingDays: number
}

/** Lists the weeks with a partition that ended at least `days` days ago, oldest first. */
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

/**
 * Whether a week's partition has a call that must be kept: one that began later than its id says, or an end that waits
 * for its start.
 */
export async function hasKeptCalls(
  connection: Connection,
  week: number,
  { days, waitingDays }: Kept,
): Promise<boolean> {
  const { rows } = await connection.query(
    `SELECT FROM tracing.projects p, LATERAL (
       SELECT FROM ${nameOf(week)} c
       WHERE c.project = p.number AND c.started_at IS NOT NULL AND c.deleted_at IS NULL
         AND c.started_at >= now() - make_interval(days => $1) LIMIT 1
     ) AS young
     UNION ALL
     SELECT FROM ${nameOf(week)} WHERE waiting_since >= now() - make_interval(days => $2)
     LIMIT 1`,
    [days, waitingDays],
  )
  return rows.length > 0
}

/** Deletes some of a week's calls that have objects in the artifact store, except for calls that must be kept. */
export function expireSpilledOfWeek(
  pool: Pool,
  { week, days, waitingDays, limit }: Kept & { week: number; limit: number },
): Promise<number> {
  const which = `c.week = $2 AND c.spilled IS NOT NULL
    AND (c.started_at < now() - make_interval(days => $3) OR c.deleted_at IS NOT NULL
      OR c.waiting_since < now() - make_interval(days => $4))`
  return removeSomeCalls(pool, { which, values: [week, days, waitingDays], limit })
}

/**
 * Drops a week's partition with all its calls. Returns false if a call must be kept or has objects in the artifact
 * store. Nobody can write between the check and the drop.
 */
export async function expireWeek(pool: Pool, week: number, kept: Kept): Promise<boolean> {
  return withTransaction(pool, async (connection) => {
    await connection.query(limits)
    await connection.query('LOCK TABLE ONLY tracing.calls IN ACCESS EXCLUSIVE MODE')
    if (await hasKeptCalls(connection, week, kept)) return false
    const { rowCount } = await connection.query(`SELECT FROM ${nameOf(week)} WHERE spilled IS NOT NULL LIMIT 1`)
    if (rowCount !== 0) return false
    await connection.query(`DROP TABLE ${nameOf(week)}`)
    await connection.query('DELETE FROM tracing.stored_bytes WHERE week = $1', [week])
    return true
  })
}

function nameOf(week: number): string {
  return `tracing.calls_w${Math.trunc(week)}`
}
