import { column, selectColumns, type RowOf } from '../columns.ts'
import type { InvalidatingConnection } from '../changes.ts'
import type { Connection, Pool } from '../pool.ts'
import { recordAct } from '../accounts/audit-log.ts'
import { cancelModelJobs } from '../jobs/endings.ts'
import { unfinished } from '../jobs/states.ts'

/** The number of removed items by kind, and the removed `bytes` of the store. */
export type ErasureReport = Record<string, number>

/** What is erased: a project, or the entity if `project` is null. */
export interface ErasureScope {
  entity: string
  project: string | null
}

export const erasureColumns = {
  id: column<string>('id', 'uuid'),
  entity: column<string>('entity', 'text'),
  project: column<string | null>('project', 'text'),
  requestedAt: column<Date>('requested_at', 'timestamptz'),
  finishedAt: column<Date | null>('finished_at', 'timestamptz'),
  report: column<ErasureReport>('report', 'jsonb'),
}

export type ErasureRow = RowOf<typeof erasureColumns>

const columns = selectColumns(erasureColumns)

/** The models of a scope. `$1` is the entity, `$2` the project or null. */
const inScope = `entity = $1 AND ($2::text IS NULL OR project = $2)`

/**
 * Starts an erasure. From now on, nothing that exists is served, listed or claimed. If it covers the entity, only the
 * caller's key still works. The operator removes the data.
 */
export async function requestErasure(
  connection: InvalidatingConnection,
  { id, keyId, entity, project }: ErasureScope & { id: string; keyId: string },
): Promise<ErasureRow> {
  // Jobs are locked before their models, as everywhere.
  const jobs = await lockJobs(connection, entity, project)
  const { rows } = await connection.query<{ id: string }>(
    `UPDATE training.models SET deleted_at = coalesce(deleted_at, clock_timestamp()) WHERE ${inScope} RETURNING id`,
    [entity, project],
  )
  const models = rows.map((row) => row.id)
  await cancelModelJobs(connection, jobs)
  await connection.query('DELETE FROM training.aliases WHERE model_id = ANY ($1)', [models])
  await connection.query(
    `UPDATE training.checkpoints SET deleted_at = clock_timestamp()
     WHERE model_id = ANY ($1) AND deleted_at IS NULL`,
    [models],
  )
  await connection.query(
    `UPDATE training.runs SET deleted_at = clock_timestamp() WHERE ${inScope} AND deleted_at IS NULL`,
    [entity, project],
  )
  if (project === null) await revokeOtherKeys(connection, entity, keyId)
  const { rowCount } = await connection.query(
    'INSERT INTO training.erasures (id, entity, project, key_id) VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO NOTHING',
    [id, entity, project, keyId],
  )
  const details = { project }
  if (rowCount === 1)
    await recordAct(connection, { entity, actor: keyId, action: 'erasure.requested', subject: id, details })
  const erasure = await findErasure(connection, entity, id)
  if (!erasure) throw new Error('an erasure that was just begun is not there')
  return erasure
}

async function lockJobs(connection: Connection, entity: string, project: string | null): Promise<string[]> {
  const { rows } = await connection.query<{ id: string }>(
    `SELECT id FROM training.jobs
     WHERE ${inScope} AND state ${unfinished} ORDER BY id FOR UPDATE`,
    [entity, project],
  )
  return rows.map(({ id }) => id)
}

async function revokeOtherKeys(connection: InvalidatingConnection, entity: string, keyId: string): Promise<void> {
  await connection.query(
    'UPDATE auth.api_keys SET revoked_at = clock_timestamp() WHERE entity = $1 AND id <> $2 AND revoked_at IS NULL',
    [entity, keyId],
  )
}

/** Finds an erasure of an entity. */
export async function findErasure(connection: Connection, entity: string, id: string): Promise<ErasureRow | undefined> {
  const { rows } = await connection.query<ErasureRow>(
    `SELECT ${columns} FROM training.erasures WHERE id = $1 AND entity = $2`,
    [id, entity],
  )
  return rows[0]
}

/** Finds the newest erasure of the same scope from the last ten minutes, for a client that lost the answer. */
export async function findRecentErasure(pool: Pool, scope: ErasureScope): Promise<ErasureRow | undefined> {
  const { rows } = await pool.query<ErasureRow>(
    `SELECT ${columns} FROM training.erasures
     WHERE entity = $1 AND project IS NOT DISTINCT FROM $2 AND requested_at > now() - interval '10 minutes'
     ORDER BY position DESC LIMIT 1`,
    [scope.entity, scope.project],
  )
  return rows[0]
}

/** Whether an entity or project has new data in the training group since its erasure was requested. */
export async function hasNewer(pool: Pool, { entity, project, requestedAt }: ErasureRow): Promise<boolean> {
  const { rows } = await pool.query<{ newer: boolean }>(
    `SELECT EXISTS (SELECT FROM training.models WHERE ${inScope} AND created_at > $3)
       OR EXISTS (SELECT FROM training.jobs WHERE ${inScope} AND created_at > $3)
       OR EXISTS (SELECT FROM training.artifacts WHERE ${inScope} AND created_at > $3)
       OR EXISTS (SELECT FROM training.artifact_versions v JOIN training.artifacts a ON a.id = v.artifact_id
                  WHERE a.entity = $1 AND ($2::text IS NULL OR a.project = $2) AND v.created_at > $3)
       OR EXISTS (SELECT FROM training.webhooks WHERE ${inScope} AND created_at > $3)
       OR EXISTS (SELECT FROM training.usage WHERE ${inScope} AND hour > $3::timestamptz - interval '1 hour')
       OR $2 IS NULL AND EXISTS (SELECT FROM auth.api_keys WHERE entity = $1 AND created_at > $3)
       OR $2 IS NULL AND EXISTS (SELECT FROM training.blobs WHERE entity = $1 AND created_at > $3) AS newer`,
    [entity, project, requestedAt],
  )
  return rows[0]!.newer
}

/** The position of an erasure in its entity's list. */
export async function findErasurePosition(pool: Pool, entity: string, id: string): Promise<number | undefined> {
  const { rows } = await pool.query<{ position: number }>(
    'SELECT position FROM training.erasures WHERE id = $2 AND entity = $1',
    [entity, id],
  )
  return rows[0]?.position
}

/** Lists a page of an entity's erasures that follow the position `after`, in the order of their requests. */
export async function listErasures(
  pool: Pool,
  entity: string,
  page: { after: number | undefined; limit: number },
): Promise<ErasureRow[]> {
  const { rows } = await pool.query<ErasureRow>(
    `SELECT ${columns} FROM training.erasures
     WHERE entity = $1 AND ($2::bigint IS NULL OR position > $2) ORDER BY position LIMIT $3`,
    [entity, page.after ?? null, page.limit],
  )
  return rows
}
