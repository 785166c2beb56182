import { markInputRemoved, listOwnPayloads } from '../../db/deletion/payload-removal.ts'
import { listCheckpointFolders } from '../../db/deletion/checkpoint-removal.ts'
import { listSavingJobs } from '../../db/jobs/progress.ts'
import type { Connection } from '../../db/pool.ts'
import { whileUnheld } from '../../db/store/held-keys.ts'
import { artifactKey, isKey } from '../../artifacts/store/keys.ts'
import type { ArtifactStore } from '../../artifacts/store/store.ts'
import { folderOf, keyOf } from '../../artifacts/layout.ts'
import type { Context } from '../context.ts'

type Deps = Pick<Context, 'pool' | 'artifacts'>

/** Removes the checkpoints of a deleted model from the store. */
export async function removeCheckpoints({ pool, artifacts }: Deps, modelId: string): Promise<void> {
  for (const id of await listCheckpointFolders(pool, modelId)) await removeCheckpointFiles({ artifacts }, id)
}

/** Removes the files of a checkpoint, and the statistics of what it was trained on. */
export async function removeCheckpointFiles({ artifacts }: Pick<Deps, 'artifacts'>, id: string): Promise<void> {
  await artifacts.removeAll(keyOf('checkpoint', { checkpoint: id }))
  await artifacts.remove(keyOf('statistics', { checkpoint: id }))
}

/** Removes what the jobs of a deleted model have saved, registered or not. */
export async function removeProgress({ pool, artifacts }: Deps, modelId: string): Promise<void> {
  for (const id of await listSavingJobs(pool, modelId)) await artifacts.removeAll(folderOf('progress', { job: id }))
}

/**
 * Removes the payloads of a deleted model that no other one has. One that is written just now, for a job that is being
 * taken in, is left, and counted.
 */
export async function removePayloads(deps: Deps, modelId: string): Promise<{ left: number }> {
  let left = 0
  for (const uri of await listOwnPayloads(deps.pool, modelId)) {
    const findAgain = (connection: Connection) => listOwnPayloads(connection, modelId, uri)
    if (!(await removePayload(deps, uri, findAgain))) left++
  }
  return { left }
}

/**
 * Removes a payload that nobody needs, if it is still found to be one; false when it is stored just now (again) for a job
 * that is taken in.
 */
export async function removePayload(
  { pool, artifacts }: Deps,
  uri: string,
  findAgain: (connection: Connection) => Promise<string[]>,
): Promise<boolean> {
  const key = artifactKey(uri)
  if (key === undefined) return true
  return whileUnheld({ pool, schema: 'training' }, key, async (connection) => {
    if (!(await findAgain(connection)).includes(uri)) return true
    await artifacts.remove(key)
    await markInputRemoved(connection, uri)
    return true
  })
}

/**
 * Removes all below a prefix that has an entity's name in it. Entities of earlier times may have names that no key can have:
 * of these the store has never held anything.
 */
export async function removeBelow(artifacts: Pick<ArtifactStore, 'removeAll'>, prefix: string): Promise<void> {
  if (isKey(prefix)) await artifacts.removeAll(prefix)
}
