import type { InvalidatingConnection } from '../changes.ts'
import type { Connection, Pool } from '../pool.ts'
import { referenceStep } from '../jobs/reference-steps.ts'
import { active, unfinished } from '../jobs/states.ts'
import { isStepAlias } from '../models/step-aliases.ts'

/** A step that cannot be deleted because an alias names it. */
export interface AliasedStep {
  step: number
  alias: string
}

/** The result of deleting steps: the deleted ones, or the aliases that forbid it. */
export type StepsDeletion = { deleted: number[] } | { aliased: AliasedStep[] }

/**
 * Deletes a model's checkpoints of the given steps. Ignores steps without a checkpoint. Deletes nothing if an alias
 * names one of the steps. Step numbers are not used again. The operator removes the files.
 */
export async function deleteCheckpoints(
  connection: InvalidatingConnection,
  modelId: string,
  steps: number[],
): Promise<StepsDeletion> {
  const found = await lockCheckpoints(connection, modelId, steps)
  // A request that sets an alias locks the checkpoint, so no alias can be added from now on.
  const aliased = await listAliased(connection, modelId, found)
  if (aliased.length > 0) return { aliased }
  await markDeleted(connection, modelId, found)
  return { deleted: found }
}

/**
 * Deletes the steps that nothing needs: no alias names them, no active job uses them, and no job names them as its
 * reference. Never deletes the newest step.
 */
export async function deleteSpareCheckpoints(
  connection: InvalidatingConnection,
  modelId: string,
  steps: number[],
): Promise<number[]> {
  const found = await lockCheckpoints(connection, modelId, steps)
  const { rows } = await connection.query<{ step: number }>(
    `SELECT step FROM training.aliases WHERE model_id = $1 AND NOT ${isStepAlias('alias')}
     UNION SELECT max(step) FROM training.checkpoints WHERE model_id = $1 AND deleted_at IS NULL
     UNION SELECT step FROM training.jobs WHERE model_id = $1 AND state ${active}
     UNION SELECT ${referenceStep('j', 'NULL::integer')} FROM training.jobs j WHERE j.model_id = $1 AND j.state ${unfinished}
     UNION SELECT kept.step FROM training.checkpoints kept WHERE kept.model_id = $1 AND kept.step >= (${lowestLagged})`,
    [modelId],
  )
  const needed = new Set(rows.map(({ step }) => step))
  const spare = found.filter((step) => !needed.has(step))
  await markDeleted(connection, modelId, spare)
  return spare
}

/**
 * SQL: the lowest step that may become the reference of a job with a lag. Earlier jobs can still make steps, so the
 * reference may be a later one.
 */
const lowestLagged = `SELECT min(${referenceStep(
  'j',
  `(SELECT max(c.step) FROM training.checkpoints c WHERE c.model_id = j.model_id AND c.deleted_at IS NULL
     AND (j.reserved_step IS NULL OR c.step < j.reserved_step))`,
)}) FROM training.jobs j WHERE j.model_id = $1 AND j.state ${unfinished} AND j.config ? 'kl_penalty_step_lag'`

/** Whether a checkpoint is recorded and not deleted. */
export async function isCheckpointThere(pool: Pool, id: string): Promise<boolean> {
  const { rowCount } = await pool.query('SELECT FROM training.checkpoints WHERE id = $1 AND deleted_at IS NULL', [id])
  return rowCount === 1
}

async function lockCheckpoints(connection: Connection, modelId: string, steps: number[]): Promise<number[]> {
  const { rows } = await connection.query<{ step: number }>(
    `SELECT step FROM training.checkpoints WHERE model_id = $1 AND step = ANY ($2) AND deleted_at IS NULL
     ORDER BY step FOR UPDATE`,
    [modelId, steps],
  )
  return rows.map(({ step }) => step)
}

async function listAliased(connection: Connection, modelId: string, steps: number[]): Promise<AliasedStep[]> {
  const { rows } = await connection.query<AliasedStep>(
    `SELECT step, alias FROM training.aliases WHERE model_id = $1 AND step = ANY ($2) AND NOT ${isStepAlias('alias')}
     ORDER BY step, alias`,
    [modelId, steps],
  )
  return rows
}

async function markDeleted(connection: InvalidatingConnection, modelId: string, steps: number[]): Promise<void> {
  if (steps.length === 0) return
  await connection.query(
    `UPDATE training.checkpoints SET deleted_at = clock_timestamp()
     WHERE model_id = $1 AND step = ANY ($2) AND deleted_at IS NULL`,
    [modelId, steps],
  )
  await connection.query('DELETE FROM training.aliases WHERE model_id = $1 AND step = ANY ($2)', [modelId, steps])
  // The status of the model's resource shows the number of checkpoints and the newest step.
  await connection.query("SELECT pg_notify('training_models', $1::text)", [modelId])
}
