import { buffer } from 'node:stream/consumers'
import type { ModelRow } from '../../../db/models/models.ts'
import type { TrajectoryRow } from '../../../db/trajectories/trajectories.ts'
import type { RequestContext } from '../../accounts/context.ts'
import type { RequestMemory } from '../../accounts/limits/request-memory.ts'
import { nameModel } from '../../histories/read-histories.ts'
import { maxCapturedBytes, writeHistories } from '../../histories/write-histories.ts'
import type { WorkerPool } from '../../../lib/worker-threads/pool.ts'
import { openTrajectory, type TrajectoryDeps } from './service.ts'

export interface CapturedDeps extends TrajectoryDeps {
  /** Exchanges are parsed there. */
  heavyThreads: WorkerPool
  memory: RequestMemory
}

// As it was read, and as the thread gets it.
const copies = 2

/**
 * Reads the histories of a captured trajectory as the JSON text of a list. Undefined for any other trajectory, and for
 * one that is too large.
 */
export async function readCaptured(
  deps: CapturedDeps,
  ctx: RequestContext,
  { model, row }: { model: ModelRow; row: TrajectoryRow },
): Promise<Uint8Array | undefined> {
  if (!row.flags.includes('captured') || row.payloadLength > maxCapturedBytes) return undefined
  const memory = deps.memory.open(ctx)
  memory.add(copies * row.payloadLength)
  const task = { payload: await buffer(await openTrajectory(deps, row)), model: nameModel(model) }
  const histories = await writeHistories(deps.heavyThreads, task)
  memory.drop(copies * row.payloadLength)
  memory.add(histories?.length ?? 0)
  return histories
}
