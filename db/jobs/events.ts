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
export async function findEventPlace(
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

/** Lists a page of a job's events that follow the seq `after` (-1 for all), in order. */
export async function listEvents(
  pool: Pool,
  jobId: string,
  page: { after: number; limit: number },
): Promise<EventRow[]> {
  const { rows } = await pool.query<EventRow>(
    `SELECT id, seq, type, data, created_at AS "createdAt" FROM training.events WHERE job_id = $1 AND seq > $2 ORDER BY seq LIMIT $3`,
    [jobId, page.after, page.limit],
  )
  return rows
}
