import type { ModelDetails } from '../../../db/models/details.ts'

/** A model as clients see it. */
export function presentModel(model: ModelDetails) {
  return {
    id: model.id,
    entity: model.entity,
    project: model.project,
    name: model.name,
    base_model: model.baseModel,
    // Clients open the model's run in their tracking tool by this id, and find it by the model's name.
    run_id: model.name,
    created_at: model.createdAt.toISOString(),
    latest_step: model.latestStep,
    loaded_engines: model.loadedEngines,
    aliases: model.aliases,
    retention: model.retention,
    forked_from: model.forkedFrom && {
      model_id: model.forkedFrom.modelId,
      step: model.forkedFrom.step,
      checkpoint_id: model.forkedFrom.checkpointId,
    },
  }
}
