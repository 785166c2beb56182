import type { Pool } from '../pool.ts'
import type { ModelName } from './models.ts'
import { namedStep } from './step-aliases.ts'

/**
 * What answers for a model: its base model (without a resource name if it is gone), and a checkpoint if there is one.
 */
export interface ServedModelRow {
  modelId: string
  baseModel: string
  baseModelCrName: string | null
  checkpointId: string | null
  /** The requested step; null for the newest step, and for an alias that does not exist. */
  step: number | null
}

/** A step by number or by alias; the newest if both are null. */
export interface ServedStep {
  step: number | null
  alias: string | null
}

/** Finds a visible model with its checkpoint of the step. */
export async function findServedModel(
  pool: Pool,
  { entity, project, name }: ModelName,
  { step, alias }: ServedStep,
): Promise<ServedModelRow | undefined> {
  const { rows } = await pool.query<ServedModelRow>(
    `SELECT m.id AS "modelId", m.base_model AS "baseModel", b.cr_name AS "baseModelCrName", wanted.step, c.id AS "checkpointId"
     FROM training.models m
     LEFT JOIN LATERAL (
       SELECT CASE WHEN $5::text IS NULL THEN ${namedStep('m.id', '$4::integer')}
         ELSE (SELECT step FROM training.aliases WHERE model_id = m.id AND alias = $5) END AS step
     ) wanted ON true
     LEFT JOIN training.base_models b ON b.name = m.base_model
     LEFT JOIN LATERAL (
       SELECT id FROM training.checkpoints
       WHERE model_id = m.id AND deleted_at IS NULL AND (wanted.step IS NULL AND $5::text IS NULL OR step = wanted.step)
       ORDER BY step DESC LIMIT 1
     ) c ON true
     WHERE m.entity = $1 AND m.project = $2 AND m.name = $3 AND m.hidden_at IS NULL AND m.deleted_at IS NULL`,
    [entity, project, name, step, alias],
  )
  return rows[0]
}
