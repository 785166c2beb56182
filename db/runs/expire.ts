import type { Pool } from '../pool.ts'
import { sqlRunState } from './table.ts'

// One statement must end well within its time limit.
const runsAtOnce = 1_000

/**
 * Deletes runs that ended, or that were last heard of, longer ago than their entity keeps them. The run of a model stays
 * as long as the model.
 */
export async function expireRuns(pool: Pool): Promise<void> {
  for (let deleted = runsAtOnce; deleted === runsAtOnce;) {
    const { rowCount } = await pool.query(
      `UPDATE training.runs SET deleted_at = now() WHERE deleted_at IS NULL AND number IN (
         SELECT r.number FROM training.runs r JOIN auth.entities e USING (entity)
         WHERE e.run_days IS NOT NULL AND r.deleted_at IS NULL AND ${sqlRunState} NOT IN ('running', 'preempting')
           AND greatest(r.finished_at, r.heartbeat_at) < now() - make_interval(days => least(e.run_days, 100000))
           AND NOT EXISTS (
             SELECT FROM training.models m
             WHERE m.entity = r.entity AND m.project = r.project AND m.name = r.name AND m.deleted_at IS NULL)
         LIMIT ${runsAtOnce})`,
    )
    deleted = rowCount ?? 0
  }
}
