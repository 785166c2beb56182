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
  { replaced, by }: { replaced: string; by: NewFeedback },
): Promise<StoredFeedback> {
  return withTransaction(pool, async (connection) => {
    await deleteFeedback(connection, project, [replaced])
    const [stored] = await insertFeedback(connection, project, [by])
    return stored!
  })
}

export async function deleteFeedback(connection: Connection, project: number, ids: string[]): Promise<void> {
  await connection.query('DELETE FROM tracing.feedback WHERE project = $1 AND id = ANY ($2)', [project, ids])
}

/** All that is said of calls, oldest first. */
export async function listFeedbackOfCalls(pool: Pool, project: number, callIds: string[]): Promise<FeedbackRow[]> {
  const { rows } = await pool.query<FeedbackRow>(
    `SELECT id, weave_ref AS "weaveRef", call_id AS "callId", feedback_type AS "feedbackType", payload, creator,
       wb_user_id AS "wbUserId", created_at AS "createdAt", annotation_ref AS "annotationRef",
       runnable_ref AS "runnableRef", call_ref AS "callRef", trigger_ref AS "triggerRef"
     FROM tracing.feedback WHERE project = $1 AND call_id = ANY ($2) ORDER BY created_at, id`,
    [project, callIds],
  )
  return rows
}
