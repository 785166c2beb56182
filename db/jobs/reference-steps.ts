import type { Pool } from '../pool.ts'
import { untrained } from './states.ts'

/** SQL: the reference of a job's KL penalty has an effect. */
export const hasPenalty = (job: string) => `(${job}.config->>'kl_penalty_coef')::float8 > 0`

/** SQL: the step that a job names as the reference, if it begins from the step `start`. Step 0 is the base model. */
export const referenceStep = (job: string, start: string) =>
  `coalesce((${job}.config->>'kl_penalty_reference_step')::integer,
     greatest(0, ${start} - (${job}.config->>'kl_penalty_step_lag')::integer))`

/** Whether a model has a step, or its jobs may still make it. Step 0 is the base model. */
export async function mayHaveStep(pool: Pool, modelId: string, step: number): Promise<boolean> {
  const { rowCount } = await pool.query(
    `SELECT FROM training.models m
     WHERE m.id = $1 AND ($2::bigint = 0
       OR EXISTS (SELECT FROM training.checkpoints c
                  WHERE c.model_id = m.id AND c.step = $2::bigint AND c.deleted_at IS NULL)
       OR $2::bigint > m.last_step AND $2::bigint <= m.last_step + (
         SELECT count(*) FROM training.jobs j
         WHERE j.model_id = m.id AND j.state ${untrained}))`,
    [modelId, step],
  )
  return rowCount === 1
}
