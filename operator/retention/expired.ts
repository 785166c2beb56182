import { listExpiredOptimizers, markOptimizerRemoved } from '../../db/retention/checkpoint-files.ts'
import { listExpiredPayloads } from '../../db/retention/payloads.ts'
import { listExpiredStatistics, markStatisticsRemoved } from '../../db/retention/checkpoint-files.ts'
import { folderOf, keyOf, optimizerFile } from '../../artifacts/layout.ts'
import { deleteProgress, listSpentProgress } from '../../db/jobs/progress.ts'
import type { Context } from '../context.ts'
import { removePayload } from '../deletion/files.ts'

type Deps = Pick<Context, 'pool' | 'artifacts'>

/** Removes the optimizer state of checkpoints that have a newer one beside them: only the next job of a model needs it. */
export async function removeOldOptimizers({ pool, artifacts }: Deps): Promise<void> {
  for (const id of await listExpiredOptimizers(pool)) {
    await artifacts.remove(`${keyOf('checkpoint', { checkpoint: id })}/${optimizerFile}`)
    await markOptimizerRemoved(pool, id)
  }
}

/** Removes the token statistics of all but a model's newest steps; the pushes that were told with them stay. */
export async function removeOldStatistics({ pool, artifacts }: Deps): Promise<void> {
  for (let old = await listExpiredStatistics(pool); old.length > 0; old = await listExpiredStatistics(pool)) {
    for (const id of old) {
      await artifacts.remove(keyOf('statistics', { checkpoint: id }))
      await markStatisticsRemoved(pool, id)
    }
  }
}

/** Removes the payloads of jobs that were over for as many days as their entity keeps them. */
export async function removeOldPayloads({ pool, artifacts }: Deps): Promise<void> {
  for (const uri of await listExpiredPayloads(pool)) {
    await removePayload({ pool, artifacts }, uri, (connection) => listExpiredPayloads(connection, uri))
  }
}

/** Removes what jobs have saved of their progress when they are trained or over, and what they have saved anew. */
export async function removeSpentProgress({ pool, artifacts }: Deps): Promise<void> {
  for (const { jobId, ids, all } of await listSpentProgress(pool)) {
    const saves = ids.map((save) => keyOf('progress', { job: jobId, save }))
    for (const folder of all ? [folderOf('progress', { job: jobId })] : saves) await artifacts.removeAll(folder)
    await deleteProgress(pool, jobId, ids)
  }
}
