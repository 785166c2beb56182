import { withTransaction, type Connection, type Pool } from '../pool.ts'

/** What somebody says of a call or an object. */
export interface NewFeedback {
  id: string
  weaveRef: string
  /** What `weaveRef` names, when that is a call of the project. */
  callId: string | null
  feedbackType: string
  /** JSON text of an object. */
  payload: string
  creator: string | null
  wbUserId: string
  annotationRef: string | null
  runnableRef: string | null
  callRef: string | null
  triggerRef: string | null
}

/** What is told of feedback that was taken. */
export interface StoredFeedback {
  id: string
  createdAt: string
  wbUserId: string
  payload: string
}

export interface FeedbackRow extends Omit<NewFeedback, 'callId'> {
  callId: string
  createdAt: string
}

const storedColumns = 'id, created_at AS "createdAt", wb_user_id AS "wbUserId", payload'

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
    `INSERT INTO tracing.feedback (project, id, weave_ref, call_id, feedback_type, payload, creator, wb_user_id, created_at,
       annotation_ref, runnable_ref, call_ref, trigger_ref)
     SELECT $1, g.id, g."weaveRef", g."callId", g."feedbackType", g.payload::json, g.creator, g."wbUserId",
       statement_timestamp() + g.place * interval '1 microsecond', g."annotationRef", g."runnableRef", g."callRef",
       g."triggerRef"
     FROM json_to_recordset($2) AS g (id text, place int, "weaveRef" text, "callId" text, "feedbackType" text,
       payload text, creator text, "wbUserId" text, "annotationRef" text, "runnableRef" text, "callRef" text,
       "triggerRef" text)
     ORDER BY g.id COLLATE "C", g.place
     ON CONFLICT (project, id) DO NOTHING RETURNING ${storedColumns}`,
    [project, JSON.stringify(items.map((item, place) => ({ ...item, place })))],
  )
  const stored = new Map(rows.map((row) => [row.id, row]))
  const known = items.map(({ id }) => id).filter((id) => !stored.has(id))
  for (const row of known.length > 0 ? await findFeedback(connection, project, known) : []) stored.set(row.id, row)
  // Somebody may have purged one just now.
  const gone = items.filter(({ id }) => !stored.has(id))
  for (const row of gone.length > 0 ? await insertFeedback(connection, project, gone) : []) stored.set(row.id, row)
  return items.map(({ id }) => stored.get(id)!)
}

async function findFeedback(connection: Connection, project: number, ids: string[]): Promise<StoredFeedback[]> {
  const { rows } = await connection.query<StoredFeedback>(
    `SELECT ${storedColumns} FROM tracing.feedback WHERE project = $1 AND id = ANY ($2) FOR SHARE`,
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
    // Of a request that comes again nothing is left to replace, and its own feedback is there already.
    const isTaken = gone > 0 && (await findFeedback(connection, project, [by.id])).length > 0
    const [stored] = await insertFeedback(connection, project, [isTaken ? { ...by, id: spareId } : by])
    return stored!
  })
}

/** Answers how many there were. */
export async function deleteFeedback(connection: Connection, project: number, ids: string[]): Promise<number> {
  const statement = 'DELETE FROM tracing.feedback WHERE project = $1 AND id = ANY ($2)'
  return (await connection.query(statement, [project, ids])).rowCount ?? 0
}

// Of one call in a list; it is in memory as a whole.
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
    `SELECT f.id, f.weave_ref AS "weaveRef", f.call_id AS "callId", f.feedback_type AS "feedbackType", f.payload,
       f.creator, f.wb_user_id AS "wbUserId", f.created_at AS "createdAt", f.annotation_ref AS "annotationRef",
       f.runnable_ref AS "runnableRef", f.call_ref AS "callRef", f.trigger_ref AS "triggerRef"
     FROM (
       SELECT f.*, sum(${bytes}) OVER (PARTITION BY f.call_id ORDER BY f.created_at, f.id) AS so_far
       FROM tracing.feedback f WHERE f.project = $1 AND f.call_id = ANY ($2)
     ) f WHERE f.so_far <= ${maxBytes} ORDER BY f.created_at, f.id`,
    [project, callIds],
  )
  return rows
}
