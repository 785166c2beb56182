import {
  eraseRows,
  finishErasure,
  listRunningErasures,
  recordMeasured,
  eraseLastKeys,
  type RunningErasure,
} from '../../db/erasure/erase.ts'
import { listSavingJobs } from '../../db/jobs/progress.ts'
import { listCheckpointFolders } from '../../db/deletion/checkpoint-removal.ts'
import { listModelsToErase, type DeletedModelRow } from '../../db/deletion/model-removal.ts'
import { listOwnPayloads } from '../../db/deletion/payload-removal.ts'
import { artifactKey } from '../../artifacts/store/keys.ts'
import { folderOf, keyOf } from '../../artifacts/layout.ts'
import type { Context } from '../context.ts'
import { removeBelow } from '../deletion/files.ts'
import { clearModel } from '../deletion/models.ts'
import { eraseTraces } from './traces.ts'
import { eraseBlobs } from './blobs.ts'
import { eraseLeftovers } from './leftovers.ts'

// By then no trainer writes for what is erased any more (its lease is over), no resource is made late, and no gateway
// still has to write what was used.
const settledSeconds = 30

/** Works on the erasures that are asked for; each step can be repeated, so that it may be cut off anywhere. */
export async function eraseAll(context: Context, afterSeconds = settledSeconds): Promise<void> {
  for (const erasure of await listRunningErasures(context.pool)) {
    await erase(context, erasure, afterSeconds).catch((error: unknown) =>
      context.log.warn({ erasure: erasure.id, error }, 'an erasure is not finished yet'),
    )
  }
  await eraseLastKeys(context.pool)
}

async function erase(context: Context, erasure: RunningErasure, afterSeconds: number): Promise<void> {
  const { pool, log } = context
  const models = await listModelsToErase(pool, erasure)
  if (erasure.measuredAt === null) await recordMeasured(pool, erasure.id, await measure(context, models))
  let payloadsLeft = 0
  for (const model of models) payloadsLeft += (await clearModel(context, model)).payloadsLeft
  // Their database may be away: nothing else waits for it.
  const tracesAreGone = await eraseTraces(context, erasure)
  if (!tracesAreGone || payloadsLeft > 0 || erasure.ageSeconds < afterSeconds) return
  await eraseRows(pool, erasure)
  if (!(await eraseBlobs(context, erasure))) return
  if (erasure.project === null && !(await eraseRest(context, erasure))) return
  await finishErasure(pool, erasure)
  log.info({ erasure: erasure.id }, 'erased')
}

/** What belongs to no project: files that were never completed, and what no row points at. */
async function eraseRest(context: Context, erasure: RunningErasure): Promise<boolean> {
  await removeBelow(context.artifacts, folderOf('upload', { entity: erasure.entity }))
  return eraseLeftovers(context, erasure)
}

/** Before anything is removed, so that the report has all of it, whatever happens to us on the way. */
async function measure({ pool, artifacts }: Context, models: DeletedModelRow[]) {
  const measured = { objects: 0, bytes: 0 }
  const add = (size: number) => {
    measured.objects++
    measured.bytes += size
  }
  for (const { id } of models) {
    for (const checkpoint of await listCheckpointFolders(pool, id)) {
      for await (const { size } of artifacts.list(keyOf('checkpoint', { checkpoint }))) add(size)
      const statistics = await artifacts.stat(keyOf('statistics', { checkpoint }))
      if (statistics) add(statistics.size)
    }
    for (const job of await listSavingJobs(pool, id)) {
      for await (const { size } of artifacts.list(folderOf('progress', { job }))) add(size)
    }
    for (const uri of await listOwnPayloads(pool, id)) {
      const found = await artifacts.stat(artifactKey(uri) ?? 'none')
      if (found) add(found.size)
    }
  }
  return measured
}
