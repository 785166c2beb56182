import type { Pool } from '../pool.ts'

/** Postgres notifies this channel when rows of the outbox have got their positions. */
export const numberedChannel = 'training_outbox_numbered'

/** The kind of the row that says which events a job has got. Webhooks cannot subscribe to it. */
export const eventsKind = 'training_job.events'

/** How long a stream can be continued after its last event. */
export const resumableMs = 3_600_000

/** A change, in the order of positions. */
export interface ChangeRow {
  position: number
  at: Date
  entity: string
  project: string
  kind: string
  /** The job or the model. */
  subjectId: string
  data: Record<string, unknown>
}

const columns = 'position, at, entity, project, kind, subject_id AS "subjectId", data'

/** The position of the newest change. */
export async function readHead(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ position: number }>('SELECT position FROM training.outbox_head')
  return rows[0]!.position
}

/** Lists the changes after a position, in order: those of all entities, or of one. */
export async function listChanges(
  pool: Pool,
  { after, limit, entity }: { after: number; limit: number; entity?: string },
): Promise<ChangeRow[]> {
  const { rows } = await pool.query<ChangeRow>(
    `SELECT ${columns} FROM training.outbox WHERE position > $1 ${entity === undefined ? '' : 'AND entity = $3'}
     ORDER BY position LIMIT $2`,
    [after, limit, ...(entity === undefined ? [] : [entity])],
  )
  return rows
}
