import { notFound } from '../../../../lib/http/http-error.ts'
import {
  afterAllEvents,
  beforeAllEvents,
  findEventPosition,
  listEvents,
  type EventRow,
} from '../../../../db/jobs/events.ts'
import { hasJob } from '../../../../db/jobs/views.ts'
import type { Pool } from '../../../../db/pool.ts'
import type { EventHub } from './hub.ts'
import type { Turn } from '../../../../lib/fair-semaphore.ts'
import { isUuid } from '../../../../lib/http/validation/compile.ts'
import { resolveCursor } from '../../../../lib/http/page.ts'
import type { EventListQuery } from '../schema.ts'

/** What reading events needs. */
export interface EventDeps {
  events: EventHub
  pool: Pool
}

/** A position in a job's events. */
export interface EventPosition {
  jobId: string
  turn: Turn
  /** A seq, or what comes before all. */
  after: number
  order: 'asc' | 'desc'
  /** Whether it is after the last event, so that no more will come. */
  ended: boolean
}

/** Whether an event is the last of its job. */
export function isTerminal({ type }: Pick<EventRow, 'type'>): boolean {
  return type === 'training_ended' || type === 'training_failed'
}

/**
 * Finds the events of a job of the entity that follow the event `after` in an order.
 *
 * @throws {HttpError} 404 without such a job, 422 if it has no such event
 */
export async function findEvents(
  pool: Pool,
  turn: Turn,
  { jobId, after, order }: { jobId: string; after: string | undefined; order: 'asc' | 'desc' },
): Promise<EventPosition> {
  if (!isUuid(jobId) || !(await hasJob(pool, turn.key, jobId))) throw notFound('Training job', jobId)
  const position = await resolveCursor(after, (id) => findEventPosition(pool, jobId, id))
  const start = order === 'asc' ? beforeAllEvents : afterAllEvents
  return { jobId, turn, after: position?.seq ?? start, order, ended: position !== undefined && isTerminal(position) }
}

/**
 * Lists one event more than the limit, which shows whether more follow. With `wait`, answers as soon as there is an
 * event, or with none when the time is over.
 */
export async function listJobEvents(
  deps: EventDeps,
  { jobId, turn, after, order, ended }: EventPosition,
  { limit, wait = 0, left }: Pick<EventListQuery, 'limit' | 'wait'> & { left: AbortSignal },
): Promise<EventRow[]> {
  const read = () => listEvents(deps.pool, jobId, { after, order, limit: limit + 1 })
  if (wait === 0 || ended) return read()
  const follower = deps.events.follow({ jobId, turn, after, patient: false, left })
  const events = await follower.next(wait * 1000)
  follower.leave()
  // A notification may have been lost. This query also fails if the database is unavailable.
  if (events.length === 0 && !deps.events.connected && !left.aborted) return read()
  return events
}
