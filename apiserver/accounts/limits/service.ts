import { HttpError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import { findEntityLimits, type EntityLimits } from '../../../db/accounts/limits.ts'
import { countUnfinishedJobs, lockJobCount } from '../../../db/accounts/quota-use.ts'
import type { Connection, Pool } from '../../../db/pool.ts'
import type { StorageUse } from './storage.ts'
import { applyDefaults, type LimitDefaults } from './limits.ts'

/** What limits and their use are read from. */
export interface LimitDeps {
  pool: Pool
  storage: StorageUse
  limitDefaults: LimitDefaults
}

// A job takes from seconds to hours: often enough to get its place soon, seldom enough to cost nothing.
const retryAfterSeconds = 15

/** What an entity may use, and what it uses of it now. */
export interface LimitsInUse {
  entity: string
  limits: EntityLimits
  queuedJobs: number
  storedBytes: number
}

export async function readLimits(deps: LimitDeps, entity: string): Promise<LimitsInUse> {
  const { pool, storage } = deps
  const [limits, queuedJobs, storedBytes] = await Promise.all([
    findLimits(deps.limitDefaults, pool, entity),
    countUnfinishedJobs(pool, entity),
    storage.measure(entity),
  ])
  return { entity, limits, queuedJobs, storedBytes }
}

/**
 * Checks, behind the insert of a job and in its transaction, that the entity has not more unfinished jobs than it may:
 * of many at once exactly as many come through as there are places.
 *
 * @throws {HttpError} 429, with which the transaction undoes the insert
 */
export async function requireJobPlace(
  limitDefaults: LimitDefaults,
  connection: Connection,
  entity: string,
): Promise<void> {
  const { queuedJobs: limit } = await findLimits(limitDefaults, connection, entity)
  if (limit === Infinity) return
  await lockJobCount(connection, entity)
  if ((await countUnfinishedJobs(connection, entity)) > limit) throw noJobPlace(entity, limit)
}

/** Checks the same limit before anything is stored for the job. @throws {HttpError} 429 */
export async function requireFreeJobPlace(
  deps: Pick<LimitDeps, 'limitDefaults' | 'pool'>,
  entity: string,
): Promise<void> {
  const { queuedJobs: limit } = await findLimits(deps.limitDefaults, deps.pool, entity)
  if (limit !== Infinity && (await countUnfinishedJobs(deps.pool, entity)) >= limit) throw noJobPlace(entity, limit)
}

function noJobPlace(entity: string, limit: number): HttpError {
  const detail = `${entity} has reached its limit queued_jobs (${limit} unfinished training jobs). Send this job again when another one has ended.`
  return new HttpError(errors.job_limit_exceeded, detail, { retryAfterSeconds })
}

/**
 * Checks that an entity may store so many bytes more; what takes work to count is counted only where there is a limit.
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
