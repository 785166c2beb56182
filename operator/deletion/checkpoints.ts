import {
  listCheckpointsToRemove,
  markCheckpointsRemoved,
  type DeletedCheckpointRow,
} from '../../db/deletion/checkpoint-removal.ts'
import type { Context } from '../context.ts'
import { unloadAdapters } from './engines.ts'
import { removeCheckpointFiles } from './files.ts'

/** Removes the files of deleted checkpoints, then their adapters from the engines. */
export async function purgeCheckpoints(context: Context): Promise<void> {
  const checkpoints = await listCheckpointsToRemove(context.pool)
  for (const [baseModel, group] of Map.groupBy(checkpoints, (checkpoint) => checkpoint.baseModel)) {
    await purgeGroup(context, baseModel, group).catch((error: unknown) =>
      context.log.warn({ baseModel, error }, 'deleted checkpoints are not gone yet'),
    )
  }
}

async function purgeGroup(context: Context, baseModel: string, group: DeletedCheckpointRow[]): Promise<void> {
  const ids = group.map(({ id }) => id)
  for (const id of ids) await removeCheckpointFiles(context, id)
  const oldest = Math.max(...group.map(({ ageSeconds }) => ageSeconds))
  await unloadAdapters(context, baseModel, ids, oldest)
  await markCheckpointsRemoved(context.pool, ids)
  context.log.info({ checkpoints: ids.length }, 'files and adapters of deleted checkpoints are gone')
}
