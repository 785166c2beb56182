import type { Pool } from '../pool.ts'

export interface EventRow {
  id: string
  /** The event's index in its job, from 0. */
  seq: number
  type: string
  data: Record<string, unknown>
  createdAt: Date
}

/** The position of an event in its job; undefined if the job has no such event. */
export async function findEventPosition(
  pool: Pool,
  jobId: string,
  id: string,
): Promise<Pick<EventRow, 'seq' | 'type'> | undefined> {
  const { rows } = await pool.query<Pick<EventRow, 'seq' | 'type'>>(
    'SELECT seq, type FROM training.events WHERE id = $2 AND job_id = $1',
    [jobId, id],
  )
  return rows[0]
}

/** Come before and after every event of a job. */
export const beforeAllEvents = -1
export const afterAllEvents = 2_147_483_647

/** Lists a page of a job's events that follow the seq `after` in the given order (ascending by default). */
export async function listEvents(
  pool: Pool,
  jobId: string,
  page: { after: number; order?: 'asc' | 'desc'; limit: number },
): Promise<EventRow[]> {
  const [comparison, direction] = page.order === 'desc' ? ['<', 'DESC'] : ['>', 'ASC']
  const { rows } = await pool.query<EventRow>(
    `SELECT id, seq, type, data, created_at AS "createdAt" FROM training.events
     WHERE job_id = $1 AND seq ${comparison} $2 ORDER BY seq ${direction} LIMIT $3`,
    [jobId, page.after, page.limit],
  )
  return rows
}
