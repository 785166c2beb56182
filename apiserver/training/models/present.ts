import type { CheckpointRow } from '../../../db/queries/checkpoints.ts'
import type { ModelRow } from '../../../db/queries/models.ts'

/** A model as clients see it. */
export function presentModel(model: ModelRow) {
  return {
    id: model.id,
    entity: model.entity,
    project: model.project,
    name: model.name,
    base_model: model.baseModel,
    // Clients open the model's run in their tracking tool by this, and find it again by the model's name.
    run_id: model.name,
  }
}

export function presentCheckpoint({ id, step, metrics }: CheckpointRow) {
  return { id, step, metrics }
}
