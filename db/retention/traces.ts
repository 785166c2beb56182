import type { Pool } from '../pool.ts'
import { removeSomeCalls } from '../tracing/remove-calls.ts'

/** How many days a project keeps its calls; null: forever. */
export interface KeptProject {
  number: number
  days: number | null
}

/** Lists all projects with their retention. `defaultDays` holds where nothing was set. */
export async function listRetention(pool: Pool, defaultDays: number | null): Promise<KeptProject[]> {
  const { rows } = await pool.query<KeptProject>(
    'SELECT number, coalesce(retention_days, $1::int) AS days FROM tracing.projects WHERE closed_at IS NULL ORDER BY number',
    [defaultDays],
  )
  return rows
}

/** The days that were set for a project; null if none were set, or if there is no such project. */
export async function findRetention(pool: Pool, number: number): Promise<number | null> {
  const { rows } = await pool.query<{ days: number | null }>(
    'SELECT retention_days AS days FROM tracing.projects WHERE number = $1',
    [number],
  )
  return rows[0]?.days ?? null
}

export async function setRetention(pool: Pool, number: number, days: number | null): Promise<void> {
  await pool.query('UPDATE tracing.projects SET retention_days = $2 WHERE number = $1', [number, days])
}

/** Removes calls of a project that began more than `days` days ago. */
export function expireCalls(
  pool: Pool,
  { number, days, limit }: { number: number; days: number; limit: number },
): Promise<number> {
  const which = 'c.project = $2 AND c.started_at < now() - make_interval(days => $3) AND c.deleted_at IS NULL'
  return removeSomeCalls(pool, { which, values: [number, days], limit })
}

/** Removes ends and names whose start has not arrived within `days` days. */
export function expireLoneEnds(pool: Pool, { days, limit }: { days: number; limit: number }): Promise<number> {
  const which = 'c.waiting_since < now() - make_interval(days => $2)'
  return removeSomeCalls(pool, { which, values: [days], limit })
}

/** Removes feedback on calls that is older than `days` days: its calls are even older. */
export async function expireFeedback(
  pool: Pool,
  { number, days, limit }: { number: number; days: number; limit: number },
): Promise<number> {
  const { rowCount } = await pool.query(
    `DELETE FROM tracing.feedback WHERE (project, id) IN (
       SELECT project, id FROM tracing.feedback
       WHERE project = $1 AND call_id IS NOT NULL AND created_at < now() - make_interval(days => $2) LIMIT $3)`,
    [number, days, limit],
  )
  return rowCount ?? 0
}
