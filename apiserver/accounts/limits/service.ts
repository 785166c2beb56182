import { findEntityLimits, type EntityLimits } from '../../../db/accounts/limits.ts'
import { countUnfinishedJobs, fitsJobLimit } from '../../../db/accounts/quota-use.ts'
import { findPauses } from '../../../db/accounts/pauses.ts'
import { sumGpuSecondsToday } from '../../../db/jobs/queue-blocks.ts'
import type { Connection, Pool } from '../../../db/pool.ts'
import type { Caller } from '../context.ts'
import type { StorageUse } from './storage.ts'
import { LimitError } from './limit-error.ts'
import { applyDefaults, type LimitDefaults } from './limits.ts'

/** What reading limits and their use needs. */
export interface LimitDeps {
  pool: Pool
  storage: StorageUse
  limitDefaults: LimitDefaults
}

/** The limits of an entity and its current use. */
export interface LimitsInUse {
  entity: string
  limits: EntityLimits
  queuedJobs: number
  storedBytes: number
  gpuSecondsToday: number
  pauses: { byEntity: boolean; byAdministrator: boolean }
}

export async function readLimits(deps: LimitDeps, entity: string): Promise<LimitsInUse> {
  const { pool, storage } = deps
  const [limits, queuedJobs, storedBytes, gpuSecondsToday, pauses] = await Promise.all([
    findLimits(deps.limitDefaults, pool, entity),
    countUnfinishedJobs(pool, entity),
    storage.measure(entity),
    sumGpuSecondsToday(pool, entity),
    findPauses(pool, entity),
  ])
  return { entity, limits, queuedJobs, storedBytes, gpuSecondsToday, pauses }
}

type JobOwner = Pick<Caller, 'entity' | 'queuedJobs'>

/**
 * Checks that the entity has no more unfinished jobs than it may. Call it after the insert of a job, in its
 * transaction. Of concurrent jobs, exactly as many succeed as there are slots.
 *
 * @throws {HttpError} 429, which rolls the insert back
 */
export async function requireJobSlot(connection: Connection, { entity, queuedJobs: limit }: JobOwner): Promise<void> {
  if (limit !== Infinity && !(await fitsJobLimit(connection, entity, limit))) throw noJobSlot(entity, limit)
}

/** Checks the same limit before anything is stored for the job. @throws {HttpError} 429 */
export async function requireFreeJobSlot(pool: Pool, { entity, queuedJobs: limit }: JobOwner): Promise<void> {
  if (limit !== Infinity && (await countUnfinishedJobs(pool, entity)) >= limit) throw noJobSlot(entity, limit)
}

function noJobSlot(entity: string, limit: number): LimitError {
  const detail = `${entity} has reached its limit queued_jobs (${limit} unfinished training jobs). Send this job again when another one has ended.`
  return new LimitError('queued_jobs', detail)
}

/**
 * Checks that an entity may store this many more bytes. It measures only if there is a limit.
 *
 * @throws {HttpError} 403
 */
export async function requireStorage(
  deps: LimitDeps,
  entity: string,
  wanted: number | (() => Promise<number>),
): Promise<void> {
  const { storedBytes: limit } = await findLimits(deps.limitDefaults, deps.pool, entity)
  if (limit === Infinity) return
  const bytes = typeof wanted === 'number' ? wanted : await wanted()
  await deps.storage.requireRoom(entity, limit, bytes)
}

async function findLimits(limitDefaults: LimitDefaults, connection: Connection, entity: string): Promise<EntityLimits> {
  return applyDefaults(await findEntityLimits(connection, entity), limitDefaults)
}
