import { column, pickColumns, readRecords, selectColumns, type RowOf } from '../columns.ts'
import { withTransaction, type Connection, type Pool } from '../pool.ts'

const givenColumns = {
  id: column<string>('id', 'text'),
  weaveRef: column<string>('weave_ref', 'text'),
  /** What `weaveRef` names, when that is a call of the project. */
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

/** What somebody says of a call or an object. */
export interface NewFeedback extends RowOf<typeof givenColumns> {
  /** JSON text of an object. */
  payload: string
}

/** What is known of feedback once it is stored. */
export type StoredFeedback = RowOf<typeof storedColumns>

/** Feedback on a call. */
export interface FeedbackRow extends RowOf<typeof feedbackColumns> {
  callId: string
}

const storedColumns = pickColumns(feedbackColumns, 'id', 'createdAt', 'wbUserId', 'payload')
const stored = selectColumns(storedColumns)
const given = readRecords(givenColumns, 'g')

/**
 * Stores feedback, all or nothing. An id that is there already was stored by a request whose answer the client has not
 * seen: it stays as it is. In the order of their ids: those who repeat a request wait for the first one, and not in a
 * circle.
 */
export async function insertFeedback(
  connection: Connection,
  project: number,
  items: NewFeedback[],
): Promise<StoredFeedback[]> {
  const { rows } = await connection.query<StoredFeedback>(
    `INSERT INTO tracing.feedback (project, ${given.names}, payload, created_at)
     SELECT $1, ${given.fields}, g.payload::json, statement_timestamp() + g.place * interval '1 microsecond'
     FROM json_to_recordset($2) AS g (${given.definition}, payload text, place int)
     ORDER BY g.id COLLATE "C", g.place
     ON CONFLICT (project, id) DO NOTHING RETURNING ${stored}`,
    [project, JSON.stringify(items.map((item, place) => ({ ...item, place })))],
  )
  const found = new Map(rows.map((row) => [row.id, row]))
  const known = items.map(({ id }) => id).filter((id) => !found.has(id))
  for (const row of known.length > 0 ? await findFeedback(connection, project, known) : []) found.set(row.id, row)
  // Another request may have deleted one just now.
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

/** Puts feedback in the place of another. */
export async function replaceFeedback(
  pool: Pool,
  project: number,
  { replaced, by, spareId }: { replaced: string; by: NewFeedback; spareId: string },
): Promise<StoredFeedback> {
  return withTransaction(pool, async (connection) => {
    const gone = await deleteFeedback(connection, project, [replaced])
    // A request that is repeated finds nothing to replace, and its own feedback is stored already.
    const isTaken = gone > 0 && (await findFeedback(connection, project, [by.id])).length > 0
    const [inserted] = await insertFeedback(connection, project, [isTaken ? { ...by, id: spareId } : by])
    return inserted!
  })
}

/** Answers how many there were. */
export async function deleteFeedback(connection: Connection, project: number, ids: string[]): Promise<number> {
  const statement = 'DELETE FROM tracing.feedback WHERE project = $1 AND id = ANY ($2)'
  return (await connection.query(statement, [project, ids])).rowCount ?? 0
}

// The most feedback of one call in a list; it is in memory as a whole.
const maxBytes = 16 * 1024 * 1024
const bytes = 'octet_length(f::text)'

/** Bytes of what is said of calls, as far as it is listed with them. */
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

/** What is said of calls, oldest first; of each call the first 16 MiB. */
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
