import type { Pool } from '../pool.ts'
import type { ModelName } from './models.ts'

/** What answers for a model: its base model (no resource name when that is gone), and a checkpoint if there is one. */
export interface ServedModelRow {
  modelId: string
  baseModel: string
  baseModelCrName: string | null
  checkpointId: string | null
}

/** A model that is not hidden, with its checkpoint of the step, or its newest when `step` is null. */
export async function findServedModel(
  pool: Pool,
  { entity, project, name }: ModelName,
  step: number | null,
): Promise<ServedModelRow | undefined> {
  const { rows } = await pool.query<ServedModelRow>(
    `SELECT m.id AS "modelId", m.base_model AS "baseModel", b.cr_name AS "baseModelCrName", c.id AS "checkpointId"
     FROM training.models m
     LEFT JOIN training.base_models b ON b.name = m.base_model
     LEFT JOIN LATERAL (
       SELECT id FROM training.checkpoints
       WHERE model_id = m.id AND deleted_at IS NULL AND ($4::integer IS NULL OR step = $4)
       ORDER BY step DESC LIMIT 1
     ) c ON true
     WHERE m.entity = $1 AND m.project = $2 AND m.name = $3 AND m.hidden_at IS NULL AND m.deleted_at IS NULL`,
    [entity, project, name, step],
  )
  return rows[0]
}
