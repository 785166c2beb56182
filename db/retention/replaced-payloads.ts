import type { Connection, Pool } from '../pool.ts'

/** An object of the artifact store that its call may not need any more. */
export interface ReplacedPayload {
  key: string
  project: number
  week: number
  id: string
}

/** Lists objects that were replaced so long ago that nobody reads them any more, and objects of removed calls. */
export async function listReplacedPayloads(
  pool: Pool,
  { seconds, limit }: { seconds: number; limit: number },
): Promise<ReplacedPayload[]> {
  const { rows } = await pool.query<ReplacedPayload>(
    `SELECT key, project, week, id FROM tracing.replaced_payloads
     WHERE replaced_at < now() - make_interval(secs => $2) ORDER BY replaced_at LIMIT $1`,
    [limit, seconds],
  )
  return rows
}

/** Whether a call uses an object, perhaps again: a value may come back. */
export async function isPayloadUsed(
  connection: Connection,
  { key, project, week, id }: ReplacedPayload,
): Promise<boolean> {
  const { rows } = await connection.query<{ used: boolean | null }>(
    `SELECT jsonb_path_exists(spilled, '$.*.key ? (@ == $key)', jsonb_build_object('key', $4::text)) AS used
     FROM tracing.calls WHERE project = $1 AND week = $2 AND id = $3`,
    [project, week, id, key],
  )
  return rows[0]?.used ?? false
}

/** Records that the object was removed, or is used again. */
export async function markReplacedRemoved(connection: Connection, { project, key }: ReplacedPayload): Promise<void> {
  await connection.query('DELETE FROM tracing.replaced_payloads WHERE project = $1 AND key = $2', [project, key])
}

/** Postpones the check of an object: another process is writing it, and its call may need it then. */
export async function postponeReplaced(pool: Pool, { project, key }: ReplacedPayload): Promise<void> {
  await pool.query('UPDATE tracing.replaced_payloads SET replaced_at = now() WHERE project = $1 AND key = $2', [
    project,
    key,
  ])
}
