import type { Pool } from '../pool.ts'

// One statement must end well within its time limit.
const rowsAtOnce = 10_000

/**
 * The rows of a deleted model that are removed. The rows of the model, its jobs and its checkpoints stay as tombstones.
 */
const ofModel: Record<string, string> = {
  'training.trajectories': 'model_id = $1',
  'training.logs': 'model_id = $1',
  'training.job_logs': 'job_id IN (SELECT id FROM training.jobs WHERE model_id = $1)',
  // Without these rows, a trainer's last lines are rejected.
  'training.job_attempts': 'job_id IN (SELECT id FROM training.jobs WHERE model_id = $1)',
  'training.events': 'job_id IN (SELECT id FROM training.jobs WHERE model_id = $1)',
}

/** Removes the rows of a deleted model, except for the tombstones. */
export async function removeModelRows(pool: Pool, modelId: string): Promise<void> {
  for (const [table, condition] of Object.entries(ofModel)) {
    for (let removed = rowsAtOnce; removed === rowsAtOnce;) {
      const { rowCount } = await pool.query(
        `DELETE FROM ${table} WHERE ctid IN (SELECT ctid FROM ${table} WHERE ${condition} LIMIT ${rowsAtOnce})`,
        [modelId],
      )
      removed = rowCount ?? 0
    }
  }
}
