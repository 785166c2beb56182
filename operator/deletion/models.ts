import {
  cancelLeftJobs,
  listModelJobResources,
  listModelsToRemove,
  markModelFilesRemoved,
  markModelRowsRemoved,
  type DeletedModelRow,
} from '../../db/deletion/model-removal.ts'
import { listCheckpointIds } from '../../db/deletion/checkpoint-removal.ts'
import { removeModelRows } from '../../db/deletion/model-rows.ts'
import { unloadAdapters, type EngineDeps } from './engines.ts'
import { removeCheckpoints, removePayloads, removeProgress, type FileDeps } from './files.ts'
import { deleteJobResources, deleteModelResource, type ResourceDeps } from './resources.ts'

/** What the removal of deleted models and checkpoints needs. */
export interface DeletionDeps extends EngineDeps, FileDeps, ResourceDeps {}

// Until then, a client can read how a job of a deleted model ended, and repeat a request whose answer it lost. After
// that, no trainer writes for the model any more, and no request from before the deletion is running.
const settledSeconds = 600

/** Removes the data of deleted models. Each step can be repeated, so the process may end anywhere. */
export async function removeDeletedModels(deps: DeletionDeps): Promise<void> {
  for (const model of await listModelsToRemove(deps.pool, settledSeconds)) {
    await removeDeletedModel(deps, model).catch((error: unknown) =>
      deps.log.warn({ model: model.id, error }, 'a deleted model is not gone yet'),
    )
  }
}

async function removeDeletedModel(deps: DeletionDeps, model: DeletedModelRow): Promise<void> {
  const isFirst = model.filesRemovedAt === null
  const { payloadsLeft } = await removeModelData(deps, model)
  if (isFirst) deps.log.info({ model: model.id }, 'resources, adapters and files of a deleted model are gone')
  if (isFirst || payloadsLeft > 0) return
  await removeModelRows(deps.pool, model.id)
  await markModelRowsRemoved(deps.pool, model.id)
}

/**
 * Deletes the resources of a deleted model, then its files, then its adapters on the engines. Without the files, no
 * running request can load the adapters again.
 */
export async function removeModelData(deps: DeletionDeps, model: DeletedModelRow): Promise<{ payloadsLeft: number }> {
  const { pool } = deps
  await deleteModelResource(deps, model)
  await cancelLeftJobs(pool, model.id)
  await deleteJobResources(deps, await listModelJobResources(pool, model.id))
  await removeCheckpoints(deps, model.id)
  await removeProgress(deps, model.id)
  const { left } = await removePayloads(deps, model.id)
  const { baseModel, ageSeconds } = model
  await unloadAdapters(deps, { baseModel, ids: await listCheckpointIds(pool, model.id), ageSeconds })
  await markModelFilesRemoved(pool, model.id)
  return { payloadsLeft: left }
}
