import { withTransaction, type Connection, type Pool } from '../pool.ts'
import { removeSomeCalls } from '../tracing/remove-calls.ts'

// A wait for a lock on the table of calls makes all others wait too. The next run is early enough.
const limits = "SET LOCAL lock_timeout = '2s'; SET LOCAL statement_timeout = '3s'"

/** How long calls are kept, and how long ends wait for their start. */
export interface Kept {
  days: number
  waitingDays: number
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

/** Whether a week's partition has a call that is kept, whatever its id says: one that began later, or waits for its start. */
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

/** Deletes some of a week's calls that have something in the artifact store, except for what is kept. */
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
 * Drops a week's partition with all that is in it; false when something is to be kept or lies in the artifact store. From
 * the look to the end nobody writes.
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
