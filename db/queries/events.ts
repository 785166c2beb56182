import type { Pool } from '../pool.ts'

export interface EventRow {
  id: string
  type: string
  data: Record<string, unknown>
}

/** The place of an event in its job's order, or undefined when the job has no such event. */
export async function findEventSeq(pool: Pool, jobId: string, id: string): Promise<number | undefined> {
  const { rows } = await pool.query<{ seq: number }>('SELECT seq FROM training.events WHERE id = $2 AND job_id = $1', [
    jobId,
    id,
  ])
  return rows[0]?.seq
}

/** A page of a job's events in order, those behind `after` (a seq). */
export async function listEvents(
  pool: Pool,
  jobId: string,
  page: { after: number | undefined; limit: number },
): Promise<EventRow[]> {
  const { rows } = await pool.query<EventRow>(
    `SELECT id, type, data FROM training.events
     WHERE job_id = $1 AND ($2::integer IS NULL OR seq > $2)
     ORDER BY seq LIMIT $3`,
    [jobId, page.after ?? null, page.limit],
  )
  return rows
}
