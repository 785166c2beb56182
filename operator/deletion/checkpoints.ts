import {
  listCheckpointsToRemove,
  markCheckpointsRemoved,
  type DeletedCheckpointRow,
} from '../../db/deletion/checkpoint-removal.ts'
import { unloadAdapters, type EngineDeps } from './engines.ts'
import { removeCheckpointFiles, type FileDeps } from './files.ts'

interface Deps extends EngineDeps, FileDeps {}

/** Removes the files of deleted checkpoints, then their adapters from the engines. */
export async function removeDeletedCheckpoints(deps: Deps): Promise<void> {
  const checkpoints = await listCheckpointsToRemove(deps.pool)
  for (const [baseModel, group] of Map.groupBy(checkpoints, (checkpoint) => checkpoint.baseModel)) {
    await removeGroup(deps, baseModel, group).catch((error: unknown) =>
      deps.log.warn({ baseModel, error }, 'deleted checkpoints are not gone yet'),
    )
  }
}

async function removeGroup(deps: Deps, baseModel: string, group: DeletedCheckpointRow[]): Promise<void> {
  const ids = group.map(({ id }) => id)
  for (const id of ids) await removeCheckpointFiles(deps, id)
  const ageSeconds = Math.max(...group.map((checkpoint) => checkpoint.ageSeconds))
  await unloadAdapters(deps, { baseModel, ids, ageSeconds })
  await markCheckpointsRemoved(deps.pool, ids)
  deps.log.info({ checkpoints: ids.length }, 'files and adapters of deleted checkpoints are gone')
}
