import { column, pickColumns, readRecords, selectColumns, type RowOf } from '../columns.ts'
import { withTransaction, type Connection, type Pool } from '../pool.ts'

const givenColumns = {
  id: column<string>('id', 'text'),
  weaveRef: column<string>('weave_ref', 'text'),
  /** The call in `weaveRef`, if it belongs to the project. */
  callId: column<string | null>('call_id', 'text'),
  feedbackType: column<string>('feedback_type', 'text'),
  creator: column<string | null>('creator', 'text'),
  wbUserId: column<string>('wb_user_id', 'text'),
  annotationRef: column<string | null>('annotation_ref', 'text'),
  runnableRef: column<string | null>('runnable_ref', 'text'),
  callRef: column<string | null>('call_ref', 'text'),
  triggerRef: column<string | null>('trigger_ref', 'text'),
}

/** The columns of `tracing.feedback`. */
export const feedbackColumns = {
  ...givenColumns,
  /** JSON text of an object. */
  payload: column<string>('payload', 'json'),
  createdAt: column<string>('created_at', 'timestamptz'),
}

/** Feedback on a call or an object. */
export interface NewFeedback extends RowOf<typeof givenColumns> {
  /** JSON text of an object. */
  payload: string
}

/** The columns that storing the feedback adds. */
export type StoredFeedback = RowOf<typeof storedColumns>

/** Feedback on a call. */
export interface FeedbackRow extends RowOf<typeof feedbackColumns> {
  callId: string
}

const storedColumns = pickColumns(feedbackColumns, 'id', 'createdAt', 'wbUserId', 'payload')
const stored = selectColumns(storedColumns)
const given = readRecords(givenColumns, 'g')

/**
 * Stores all the feedback, or none. An existing id was stored by an earlier request whose answer was lost: it stays as
 * it is. Rows are inserted in the order of their ids, so that repeated requests wait for the first one without a
 * deadlock.
 */
export async function insertFeedback(
  connection: Connection,
  project: number,
  items: NewFeedback[],
): Promise<StoredFeedback[]> {
  const { rows } = await connection.query<StoredFeedback>(
    `INSERT INTO tracing.feedback (project, ${given.names}, payload, created_at)
     SELECT $1, ${given.fields}, g.payload::json, statement_timestamp() + g.ordinal * interval '1 microsecond'
     FROM json_to_recordset($2) AS g (${given.definition}, payload text, ordinal int)
     ORDER BY g.id COLLATE "C", g.ordinal
     ON CONFLICT (project, id) DO NOTHING RETURNING ${stored}`,
    [project, JSON.stringify(items.map((item, ordinal) => ({ ...item, ordinal })))],
  )
  const found = new Map(rows.map((row) => [row.id, row]))
  const known = items.map(({ id }) => id).filter((id) => !found.has(id))
  for (const row of known.length > 0 ? await findFeedback(connection, project, known) : []) found.set(row.id, row)
  // A concurrent request may have deleted one.
  const gone = items.filter(({ id }) => !found.has(id))
  for (const row of gone.length > 0 ? await insertFeedback(connection, project, gone) : []) found.set(row.id, row)
  return items.map(({ id }) => found.get(id)!)
}

async function findFeedback(connection: Connection, project: number, ids: string[]): Promise<StoredFeedback[]> {
  const { rows } = await connection.query<StoredFeedback>(
    `SELECT ${stored} FROM tracing.feedback WHERE project = $1 AND id = ANY ($2) FOR SHARE`,
    [project, ids],
  )
  return rows
}

/** Replaces feedback by new feedback. */
export async function replaceFeedback(
  pool: Pool,
  project: number,
  { replaced, by, spareId }: { replaced: string; by: NewFeedback; spareId: string },
): Promise<StoredFeedback> {
  return withTransaction(pool, async (connection) => {
    const gone = await deleteFeedback(connection, project, [replaced])
    // A repeated request finds nothing to replace, because its own feedback is stored already.
    const isTaken = gone > 0 && (await findFeedback(connection, project, [by.id])).length > 0
    const [inserted] = await insertFeedback(connection, project, [isTaken ? { ...by, id: spareId } : by])
    return inserted!
  })
}

/** Deletes feedback; returns how many. */
export async function deleteFeedback(connection: Connection, project: number, ids: string[]): Promise<number> {
  const statement = 'DELETE FROM tracing.feedback WHERE project = $1 AND id = ANY ($2)'
  return (await connection.query(statement, [project, ids])).rowCount ?? 0
}

// The most feedback of one call in a list. All of it is in memory at once.
const maxBytes = 16 * 1024 * 1024
const bytes = 'octet_length(f::text)'

/** Sums the bytes of the feedback that is listed with calls. */
export async function measureFeedbackOfCalls(
  pool: Pool,
  project: number,
  callIds: string[],
): Promise<Map<string, number>> {
  const { rows } = await pool.query<{ id: string; bytes: number }>(
    `SELECT f.call_id AS id, least(sum(${bytes}), ${maxBytes})::int AS bytes
     FROM tracing.feedback f WHERE f.project = $1 AND f.call_id = ANY ($2) GROUP BY f.call_id`,
    [project, callIds],
  )
  return new Map(rows.map((row) => [row.id, row.bytes]))
}

/** Lists the feedback on calls, oldest first, and at most 16 MiB for each call. */
export async function listFeedbackOfCalls(pool: Pool, project: number, callIds: string[]): Promise<FeedbackRow[]> {
  const { rows } = await pool.query<FeedbackRow>(
    `SELECT ${selectColumns(feedbackColumns, 'f')}
     FROM (
       SELECT f.*, sum(${bytes}) OVER (PARTITION BY f.call_id ORDER BY f.created_at, f.id) AS so_far
       FROM tracing.feedback f WHERE f.project = $1 AND f.call_id = ANY ($2)
     ) f WHERE f.so_far <= ${maxBytes} ORDER BY f.created_at, f.id`,
    [project, callIds],
  )
  return rows
}
