import {
  eraseRows,
  finishErasure,
  listRunningErasures,
  recordMeasured,
  eraseLastKeys,
  type RunningErasure,
} from '../../db/erasure/erase.ts'
import { listModelsToErase } from '../../db/deletion/model-removal.ts'
import { folderOf } from '../../artifacts/layout.ts'
import type { Pool } from '../../db/pool.ts'
import { removeBelow } from '../deletion/files.ts'
import { removeModelData, type DeletionDeps } from '../deletion/models.ts'
import { eraseTraces } from './traces.ts'
import { eraseBlobs } from './blobs.ts'
import { measureFiles } from './measure.ts'
import { eraseUnreferenced } from './unreferenced.ts'

/** What an erasure needs. */
export interface ErasureDeps extends DeletionDeps {
  /** the database of traces */
  tracing: Pool
}

// After this time no trainer writes for the erased models (its lease has expired), no resource is created late, and no
// gateway has usage left to write.
const settledSeconds = 30

/** Works on the requested erasures. Each step can be repeated, so the process may end anywhere. */
export async function eraseAll(deps: ErasureDeps, afterSeconds = settledSeconds): Promise<void> {
  for (const erasure of await listRunningErasures(deps.pool)) {
    await erase(deps, erasure, afterSeconds).catch((error: unknown) =>
      deps.log.warn({ erasure: erasure.id, error }, 'an erasure is not finished yet'),
    )
  }
  await eraseLastKeys(deps.pool)
}

async function erase(deps: ErasureDeps, erasure: RunningErasure, afterSeconds: number): Promise<void> {
  const { pool, log } = deps
  const models = await listModelsToErase(pool, erasure)
  if (erasure.measuredAt === null) await recordMeasured(pool, erasure.id, await measureFiles(deps, models))
  let payloadsLeft = 0
  for (const model of models) payloadsLeft += (await removeModelData(deps, model)).payloadsLeft
  // The tracing database may be unavailable. Only traces wait for it.
  const tracesAreGone = await eraseTraces(deps, erasure)
  if (!tracesAreGone || payloadsLeft > 0 || erasure.ageSeconds < afterSeconds) return
  await eraseRows(pool, erasure)
  if (!(await eraseBlobs(deps, erasure))) return
  if (erasure.project === null && !(await eraseEntityFiles(deps, erasure))) return
  await finishErasure(pool, erasure)
  log.info({ erasure: erasure.id }, 'erased')
}

/** Erases what belongs to no project: incomplete uploads and unreferenced units. */
async function eraseEntityFiles(deps: ErasureDeps, erasure: RunningErasure): Promise<boolean> {
  await removeBelow(deps.artifacts, folderOf('upload', { entity: erasure.entity }))
  return eraseUnreferenced(deps, erasure)
}
