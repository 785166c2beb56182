import { uriPrefixOf } from '../../artifacts/layout.ts'
import { withTransaction, type Connection, type Pool } from '../pool.ts'
import { cancelModelJobs, lockModelJobs } from '../jobs/endings.ts'
import { held } from '../jobs/states.ts'

/** A deleted model of which something is left. */
export interface DeletedModelRow {
  id: string
  baseModel: string
  namespace: string
  crName: string
  deletedAt: Date
  /** resources, adapters and files are gone */
  filesRemovedAt: Date | null
  ageSeconds: number
}

const columns = `m.id, m.base_model AS "baseModel", m.namespace, m.cr_name AS "crName", m.deleted_at AS "deletedAt",
  m.files_removed_at AS "filesRemovedAt", extract(epoch FROM now() - m.deleted_at)::float8 AS "ageSeconds"`

/**
 * Deleted models that are to be cleared, or that were cleared and deleted `settledSeconds` ago, so that their rows may go
 * too. What belongs to a running erasure is left to that, which counts it.
 */
export async function listModelsToPurge(pool: Pool, settledSeconds: number): Promise<DeletedModelRow[]> {
  const { rows } = await pool.query<DeletedModelRow>(
    `SELECT ${columns} FROM training.models m
     WHERE m.deleted_at IS NOT NULL AND m.rows_removed_at IS NULL
       AND (m.files_removed_at IS NULL OR m.deleted_at < now() - make_interval(secs => $1))
       AND NOT EXISTS (
         SELECT FROM training.erasures e WHERE e.finished_at IS NULL AND e.entity = m.entity
           AND (e.project IS NULL OR e.project = m.project) AND e.requested_at >= m.created_at)
     ORDER BY m.deleted_at LIMIT 50`,
    [settledSeconds],
  )
  return rows
}

/** The deleted models that an erasure covers. */
export async function listModelsToErase(
  pool: Pool,
  { entity, project, requestedAt }: { entity: string; project: string | null; requestedAt: Date },
): Promise<DeletedModelRow[]> {
  const { rows } = await pool.query<DeletedModelRow>(
    `SELECT ${columns} FROM training.models m
     WHERE m.entity = $1 AND ($2::text IS NULL OR m.project = $2) AND m.deleted_at IS NOT NULL
       AND m.created_at <= $3
     ORDER BY m.deleted_at`,
    [entity, project, requestedAt],
  )
  return rows
}

/** Those of the ids that belong to deleted models: a resource that names one is to go. */
export async function findDeletedModel(pool: Pool, ids: string[]): Promise<string | undefined> {
  const { rows } = await pool.query<{ id: string }>(
    'SELECT id FROM training.models WHERE id::text = ANY ($1) AND deleted_at IS NOT NULL LIMIT 1',
    [ids],
  )
  return rows[0]?.id
}

/** Ends what was taken in for a model just when it was deleted. */
export async function cancelLeftJobs(pool: Pool, modelId: string): Promise<void> {
  await withTransaction(pool, async (connection) => {
    await cancelModelJobs(connection, await lockModelJobs(connection, { id: modelId }))
  })
}

/** A job and its resource. */
export interface JobResourceRow {
  id: string
  namespace: string
  crName: string
}

/** The jobs of a model whose resource was made. */
export async function listModelJobResources(pool: Pool, modelId: string): Promise<JobResourceRow[]> {
  const { rows } = await pool.query<JobResourceRow>(
    `SELECT id, namespace, cr_name AS "crName" FROM training.jobs WHERE model_id = $1 ORDER BY arrival`,
    [modelId],
  )
  return rows
}

/**
 * Ids of all checkpoints whose files may be there: those that are recorded, and those that attempts were to write, of
 * which the last may still be writing.
 */
export async function listCheckpointFolders(pool: Pool, modelId: string): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id FROM training.checkpoints WHERE model_id = $1 AND files_removed_at IS NULL
     UNION SELECT checkpoint_id FROM training.jobs WHERE model_id = $1 AND checkpoint_id IS NOT NULL
       AND NOT EXISTS (SELECT FROM training.checkpoints c WHERE c.id = checkpoint_id AND c.files_removed_at IS NOT NULL)`,
    [modelId],
  )
  return rows.map(({ id }) => id)
}

/** Ids of all checkpoints that a model ever had: its adapters on the engines. */
export async function listCheckpointIds(pool: Pool, modelId: string): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>('SELECT id FROM training.checkpoints WHERE model_id = $1', [
    modelId,
  ])
  return rows.map(({ id }) => id)
}

/** Addresses of a model's payloads that no model beside it has, as far as it is not deleted; or that one of them. */
export async function listOwnPayloads(connection: Connection, modelId: string, only?: string): Promise<string[]> {
  const { rows } = await connection.query<{ uri: string }>(
    `SELECT DISTINCT uri FROM (
       SELECT input_uri AS uri FROM training.jobs WHERE model_id = $1 AND input_removed_at IS NULL
       UNION SELECT payload_uri FROM training.logs WHERE model_id = $1) own
     WHERE starts_with(uri, '${uriPrefixOf('payload')}') AND ($2::text IS NULL OR uri = $2)
       AND NOT EXISTS (SELECT FROM training.jobs j JOIN training.models m ON m.id = j.model_id
                       WHERE j.input_uri = own.uri AND m.deleted_at IS NULL)
       AND NOT EXISTS (SELECT FROM training.logs l JOIN training.models m ON m.id = l.model_id
                       WHERE l.payload_uri = own.uri AND m.deleted_at IS NULL)`,
    [modelId, only ?? null],
  )
  return rows.map(({ uri }) => uri)
}

/** Notes that a payload was removed from the store. */
export async function markInputRemoved(connection: Connection, uri: string): Promise<void> {
  await connection.query(
    'UPDATE training.jobs SET input_removed_at = now() WHERE input_uri = $1 AND input_removed_at IS NULL',
    [uri],
  )
}

/** Notes that a model's resources, adapters and files are gone. */
export async function markCleared(pool: Pool, modelId: string): Promise<void> {
  await withTransaction(pool, async (connection) => {
    await connection.query('UPDATE training.checkpoints SET files_removed_at = now() WHERE model_id = $1', [modelId])
    await connection.query(
      'UPDATE training.models SET files_removed_at = now() WHERE id = $1 AND files_removed_at IS NULL',
      [modelId],
    )
  })
}

/** Notes that nothing of a model is left but tombstones: its own row, and those of its checkpoints and jobs. */
export async function markPurged(pool: Pool, modelId: string): Promise<void> {
  await pool.query('UPDATE training.models SET rows_removed_at = now() WHERE id = $1', [modelId])
}

/** A deleted checkpoint of a model that is still there. */
export interface DeletedCheckpointRow {
  id: string
  baseModel: string
  ageSeconds: number
}

/** Deleted checkpoints whose files may go: no job that was claimed before may start from them any more. */
export async function listCheckpointsToPurge(pool: Pool): Promise<DeletedCheckpointRow[]> {
  const { rows } = await pool.query<DeletedCheckpointRow>(
    `SELECT c.id, m.base_model AS "baseModel", extract(epoch FROM now() - c.deleted_at)::float8 AS "ageSeconds"
     FROM training.checkpoints c JOIN training.models m ON m.id = c.model_id
     WHERE c.deleted_at IS NOT NULL AND c.files_removed_at IS NULL AND m.deleted_at IS NULL AND NOT EXISTS (
       SELECT FROM training.jobs j WHERE j.model_id = c.model_id AND j.state ${held}
         AND coalesce(j.claimed_at, '-infinity') < c.deleted_at)
     ORDER BY c.deleted_at LIMIT 200`,
  )
  return rows
}

/** Notes that the files and adapters of deleted checkpoints are gone. */
export async function markCheckpointsPurged(pool: Pool, ids: string[]): Promise<void> {
  await pool.query('UPDATE training.checkpoints SET files_removed_at = now() WHERE id = ANY ($1)', [ids])
}
