import type { Pool } from '../pool.ts'
import { streamRows } from './stream-rows.ts'

/** A conversation. Its turns are the outermost calls in it. */
export interface ThreadRow {
  thread_id: string
  turn_count: number
  start_time: string
  last_updated: string
  first_turn_id: string
  last_turn_id: string
  p50_turn_duration_ms: number
  p99_turn_duration_ms: number
}

export const threadSortFields = [
  'thread_id',
  'turn_count',
  'start_time',
  'last_updated',
  'p50_turn_duration_ms',
  'p99_turn_duration_ms',
] as const

export interface ThreadSort {
  field: (typeof threadSortFields)[number]
  direction: 'asc' | 'desc'
}

export interface ThreadPage {
  /** Exclusive bounds of the start times of the counted turns. */
  after: string | null
  before: string | null
  threadIds: string[] | null
  sort: ThreadSort[]
  limit: number | null
  offset: number
}

const durationMs = 'extract(epoch FROM ended_at - started_at)::float8 * 1000'

/** Reads the threads of a project. Threads without an ended turn are left out. */
export function streamThreads(
  pool: Pool,
  project: number,
  page: ThreadPage,
): AsyncGenerator<ThreadRow[], void, undefined> {
  const order = page.sort.map(({ field, direction }) => `${field} ${direction === 'desc' ? 'DESC' : 'ASC'}`)
  const text = `
    SELECT thread_id, count(*) AS turn_count, min(started_at) AS start_time, max(ended_at) AS last_updated,
      (array_agg(id ORDER BY started_at, id))[1] AS first_turn_id,
      (array_agg(id ORDER BY ended_at DESC NULLS LAST, id DESC))[1] AS last_turn_id,
      percentile_cont(0.5) WITHIN GROUP (ORDER BY ${durationMs}) AS p50_turn_duration_ms,
      percentile_cont(0.99) WITHIN GROUP (ORDER BY ${durationMs}) AS p99_turn_duration_ms
    FROM tracing.calls
    WHERE project = $1 AND thread_id IS NOT NULL AND thread_id <> '' AND id = turn_id
      AND started_at IS NOT NULL AND deleted_at IS NULL
      AND ($2::timestamptz IS NULL OR started_at > $2) AND ($3::timestamptz IS NULL OR started_at < $3)
      AND ($4::text[] IS NULL OR thread_id = ANY ($4))
    GROUP BY thread_id HAVING max(ended_at) IS NOT NULL
    ORDER BY ${[...order, 'thread_id'].join(', ')} LIMIT $5::bigint OFFSET $6::bigint`
  const values = [project, page.after, page.before, page.threadIds, page.limit, page.offset]
  return streamRows<ThreadRow>(pool, { text, values, maxRowBytes: 2_000 })
}
