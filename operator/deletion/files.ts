import { markInputRemoved, listOwnPayloads } from '../../db/deletion/payload-removal.ts'
import { listCheckpointFolders } from '../../db/deletion/checkpoint-removal.ts'
import { listSavingJobs } from '../../db/jobs/progress.ts'
import type { Connection, Pool } from '../../db/pool.ts'
import { whileUnheld } from '../../db/store/held-keys.ts'
import { artifactKey, isKey } from '../../artifacts/store/keys.ts'
import type { ArtifactStore } from '../../artifacts/store/store.ts'
import { folderOf, keyOf } from '../../artifacts/layout.ts'

/** What removing files needs. */
export interface FileDeps {
  pool: Pool
  artifacts: ArtifactStore
}

/** Removes the checkpoints of a deleted model from the store. */
export async function removeCheckpoints({ pool, artifacts }: FileDeps, modelId: string): Promise<void> {
  for (const id of await listCheckpointFolders(pool, modelId)) await removeCheckpointFiles({ artifacts }, id)
}

/** Removes the files of a checkpoint and its token statistics. */
export async function removeCheckpointFiles({ artifacts }: Pick<FileDeps, 'artifacts'>, id: string): Promise<void> {
  await artifacts.removeAll(keyOf('checkpoint', { checkpoint: id }))
  await artifacts.remove(keyOf('statistics', { checkpoint: id }))
}

/** Removes the saved progress of a deleted model's jobs, with or without rows. */
export async function removeProgress({ pool, artifacts }: FileDeps, modelId: string): Promise<void> {
  for (const id of await listSavingJobs(pool, modelId)) await artifacts.removeAll(folderOf('progress', { job: id }))
}

/**
 * Removes the payloads of a deleted model that no other model uses. Keeps and counts payloads that a request is writing
 * now.
 */
export async function removePayloads(deps: FileDeps, modelId: string): Promise<{ left: number }> {
  let left = 0
  for (const uri of await listOwnPayloads(deps.pool, modelId)) {
    const findAgain = (connection: Connection) => listOwnPayloads(connection, modelId, uri)
    if (!(await removePayload(deps, uri, findAgain))) left++
  }
  return { left }
}

/** Removes a payload if `findAgain` still returns it. Returns false if a request is writing it now. */
export async function removePayload(
  { pool, artifacts }: FileDeps,
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
 * Removes everything below a prefix that contains an entity's name. Old entities may have names that are not valid in
 * keys. The store never had anything of theirs.
 */
export async function removeBelow(artifacts: Pick<ArtifactStore, 'removeAll'>, prefix: string): Promise<void> {
  if (isKey(prefix)) await artifacts.removeAll(prefix)
}
