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
import type { Context } from '../context.ts'
import { unloadAdapters } from './engines.ts'
import { removeCheckpoints, removePayloads, removeProgress } from './files.ts'
import { deleteJobResources, deleteModelResource } from './resources.ts'

// So long, whoever watches a job of a deleted model can read how it ended, and a retried request its answer. By then no
// trainer writes for it any more, and no request that came before the deletion is under way.
const settledSeconds = 600

/** Removes what is left of deleted models. Each step can be repeated, so that it may be cut off anywhere. */
export async function purgeModels(context: Context): Promise<void> {
  for (const model of await listModelsToRemove(context.pool, settledSeconds)) {
    await purgeModel(context, model).catch((error: unknown) =>
      context.log.warn({ model: model.id, error }, 'a deleted model is not gone yet'),
    )
  }
}

async function purgeModel(context: Context, model: DeletedModelRow): Promise<void> {
  const isFirst = model.filesRemovedAt === null
  const { payloadsLeft } = await clearModel(context, model)
  if (isFirst) context.log.info({ model: model.id }, 'resources, adapters and files of a deleted model are gone')
  if (isFirst || payloadsLeft > 0) return
  await removeModelRows(context.pool, model.id)
  await markModelRowsRemoved(context.pool, model.id)
}

/**
 * Deletes the resources of a deleted model, its files, and then its adapters from the engines: without files no request
 * that was under way can load them again.
 */
export async function clearModel(context: Context, model: DeletedModelRow): Promise<{ payloadsLeft: number }> {
  const { pool } = context
  await deleteModelResource(context, model)
  await cancelLeftJobs(pool, model.id)
  await deleteJobResources(context, await listModelJobResources(pool, model.id))
  await removeCheckpoints(context, model.id)
  await removeProgress(context, model.id)
  const { left } = await removePayloads(context, model.id)
  await unloadAdapters(context, model.baseModel, await listCheckpointIds(pool, model.id), model.ageSeconds)
  await markModelFilesRemoved(pool, model.id)
  return { payloadsLeft: left }
}
