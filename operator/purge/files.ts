import { noteInputGone, listCheckpointFolders, listOwnPayloads } from '../../db/queries/purge.ts'
import { listSavingJobs } from '../../db/queries/job-progress.ts'
import { artifactKey } from '../../lib/artifact-store/keys.ts'
import { tokenStatisticsKey } from '../../lib/artifact-store/token-statistics.ts'
import type { Context } from '../context.ts'

type Deps = Pick<Context, 'pool' | 'artifacts'>

// A payload is stored before the row that points at it, by requests that take far less than this.
const youngMs = 60_000

/** Removes the checkpoints of a deleted model from the store. */
export async function removeCheckpoints({ pool, artifacts }: Deps, modelId: string): Promise<void> {
  for (const id of await listCheckpointFolders(pool, modelId)) await removeCheckpointFiles({ artifacts }, id)
}

/** Removes the files of a checkpoint, and the statistics of what it was trained on. */
export async function removeCheckpointFiles({ artifacts }: Pick<Deps, 'artifacts'>, id: string): Promise<void> {
  await artifacts.removeAll(`checkpoints/${id}`)
  await artifacts.remove(tokenStatisticsKey(id))
}

/** Removes what the jobs of a deleted model have saved, registered or not. */
export async function removeProgress({ pool, artifacts }: Deps, modelId: string): Promise<void> {
  for (const id of await listSavingJobs(pool, modelId)) await artifacts.removeAll(`progress/${id}`)
}

/**
 * Removes the payloads of a deleted model that no other one has. One that was written just now may have been so for a
 * job that is being taken in: such are left, and counted.
 */
export async function removePayloads({ pool, artifacts }: Deps, modelId: string): Promise<{ left: number }> {
  let left = 0
  for (const uri of await listOwnPayloads(pool, modelId)) {
    if (!(await removePayload({ pool, artifacts }, uri))) left++
  }
  return { left }
}

/** Removes a payload that nobody needs; false when it may just have been stored (again) for a job that is taken in. */
export async function removePayload({ pool, artifacts }: Deps, uri: string): Promise<boolean> {
  const key = artifactKey(uri)
  if (key === undefined) return true
  const found = await artifacts.stat(key)
  if (found && found.modifiedAt.getTime() > Date.now() - youngMs) return false
  await artifacts.remove(key)
  await noteInputGone(pool, uri)
  return true
}
