import { listExpiredOptimizers, markOptimizersRemoved } from '../../db/retention/checkpoint-files.ts'
import { listExpiredPayloads } from '../../db/retention/payloads.ts'
import { listExpiredStatistics, markStatisticsRemoved } from '../../db/retention/checkpoint-files.ts'
import { folderOf, keyOf, optimizerFile } from '../../artifacts/layout.ts'
import { deleteProgress, listSpentProgress } from '../../db/jobs/progress.ts'
import { deletePending, listExpiredPending } from '../../db/wandb/pending-artifacts.ts'
import { removePayload, type FileDeps } from '../deletion/files.ts'

/** Removes the optimizer states of all but each model's newest checkpoint: only the model's next job reads it. */
export async function expireOptimizerStates({ pool, artifacts }: FileDeps): Promise<void> {
  const removed: string[] = []
  try {
    for (const id of await listExpiredOptimizers(pool)) {
      await artifacts.remove(`${keyOf('checkpoint', { checkpoint: id })}/${optimizerFile}`)
      removed.push(id)
    }
  } finally {
    await markOptimizersRemoved(pool, removed)
  }
}

/** Removes the token statistics of all but each model's newest steps. The reported pushes stay. */
export async function expireTokenStatistics({ pool, artifacts }: FileDeps): Promise<void> {
  for (let old = await listExpiredStatistics(pool); old.length > 0; old = await listExpiredStatistics(pool)) {
    for (const id of old) {
      await artifacts.remove(keyOf('statistics', { checkpoint: id }))
      await markStatisticsRemoved(pool, id)
    }
  }
}

/** Removes the payloads of jobs that ended longer ago than their entity keeps payloads. */
export async function expirePayloads({ pool, artifacts }: FileDeps): Promise<void> {
  for (const uri of await listExpiredPayloads(pool)) {
    await removePayload({ pool, artifacts }, uri, (connection) => listExpiredPayloads(connection, uri))
  }
}

/** Removes artifacts that were never committed, with the parts of their files. Their whole files are garbage. */
export async function expirePendingArtifacts({ pool, artifacts }: FileDeps): Promise<void> {
  for (const { entity, id } of await listExpiredPending(pool)) {
    await artifacts.removeAll(keyOf('upload', { entity, digest: id }))
    await deletePending(pool, id)
  }
}

/** Removes the saves of jobs that are trained or over, and saves that a newer one has replaced. */
export async function expireProgress({ pool, artifacts }: FileDeps): Promise<void> {
  for (const { jobId, ids, all } of await listSpentProgress(pool)) {
    const saves = ids.map((save) => keyOf('progress', { job: jobId, save }))
    for (const folder of all ? [folderOf('progress', { job: jobId })] : saves) await artifacts.removeAll(folder)
    await deleteProgress(pool, jobId, ids)
  }
}
