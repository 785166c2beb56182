import { findEntityLimits, type EntityLimits } from '../../db/queries/entities.ts'
import { countUnfinishedJobs, lockJobCount, sumStoredBytes } from '../../db/queries/entity-use.ts'
import type { Connection } from '../../db/pool.ts'
import type { Deps } from '../deps.ts'
import { Refusal } from '../refusal.ts'
import { applyDefaults } from './limits.ts'

// A job takes from seconds to hours: often enough to get its place soon, seldom enough to cost nothing.
const retryAfterSeconds = '15'

/** What an entity may use, and what it uses of it now. */
export interface LimitsInUse {
  entity: string
  limits: EntityLimits
  queuedJobs: number
  storedBytes: number
}

export async function readLimits(deps: Deps, entity: string): Promise<LimitsInUse> {
  const { pool } = deps
  const [limits, queuedJobs, storedBytes] = await Promise.all([
    findLimits(deps, pool, entity),
    countUnfinishedJobs(pool, entity),
    sumStoredBytes(pool, entity),
  ])
  return { entity, limits, queuedJobs, storedBytes }
}

/**
 * Checks, behind the insert of a job and in its transaction, that the entity has not more unfinished jobs than it may:
 * of many at once exactly as many come through as there are places.
 *
 * @throws {Refusal} 429, with which the transaction undoes the insert
 */
export async function requireJobPlace(
  deps: Pick<Deps, 'config'>,
  connection: Connection,
  entity: string,
): Promise<void> {
  const { queuedJobs: limit } = await findLimits(deps, connection, entity)
  if (limit === null) return
  await lockJobCount(connection, entity)
  if ((await countUnfinishedJobs(connection, entity)) <= limit) return
  const detail = `${entity} may have ${limit} unfinished training jobs; post this one when another has ended.`
  throw new Refusal(429, detail, { 'Retry-After': retryAfterSeconds })
}

/**
 * Checks that an entity may store so many bytes more; call it with a body's announced length before it is read, and again
 * with its size when it did not announce one; what takes work to count is counted only where there is a limit. Bodies that come in at the same time do not see each other.
 *
 * @throws {Refusal} 403, which no client repeats by itself: waiting would not help
 */
export async function requireStorage(
  deps: Pick<Deps, 'config' | 'pool'>,
  entity: string,
  wanted: number | (() => Promise<number>),
): Promise<void> {
  const { storedBytes: limit } = await findLimits(deps, deps.pool, entity)
  if (limit === null) return
  const bytes = typeof wanted === 'number' ? wanted : await wanted()
  const stored = await sumStoredBytes(deps.pool, entity)
  if (stored + bytes <= limit) return
  const detail = `${entity} has ${stored} of the ${limit} bytes stored that it may, and this needs ${bytes} more: `
  throw new Refusal(403, `${detail}delete models, checkpoints or artifacts, or ask for a higher limit.`, {
    Connection: 'close',
  })
}

async function findLimits(
  { config }: Pick<Deps, 'config'>,
  connection: Connection,
  entity: string,
): Promise<EntityLimits> {
  return applyDefaults(await findEntityLimits(connection, entity), config)
}
