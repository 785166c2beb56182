// Finds what is left of deleted models, and records what was removed.

import { pickColumns, selectColumns, type RowOf } from '../columns.ts'
import { cancelModelJobs, lockModelJobs } from '../jobs/endings.ts'
import { jobColumns } from '../jobs/table.ts'
import { modelColumns } from '../models/table.ts'
import { withTransaction, type Pool } from '../pool.ts'

const modelRow = pickColumns(modelColumns, 'id', 'baseModel', 'namespace', 'crName', 'deletedAt', 'filesRemovedAt')

/** A deleted model that is not completely removed. */
export interface DeletedModelRow extends RowOf<typeof modelRow> {
  deletedAt: Date
  ageSeconds: number
}

const columns = `${selectColumns(modelRow, 'm')}, extract(epoch FROM now() - m.deleted_at)::float8 AS "ageSeconds"`

/**
 * Lists deleted models that still have files, and those that were deleted `settledSeconds` ago, whose rows can be
 * removed too. Leaves out models of a running erasure: the erasure removes and counts them.
 */
export async function listModelsToRemove(pool: Pool, settledSeconds: number): Promise<DeletedModelRow[]> {
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

/** The first of these ids that belongs to a deleted model. A resource that names it must be deleted. */
export async function findDeletedModel(pool: Pool, ids: string[]): Promise<string | undefined> {
  const { rows } = await pool.query<{ id: string }>(
    'SELECT id FROM training.models WHERE id::text = ANY ($1) AND deleted_at IS NOT NULL LIMIT 1',
    [ids],
  )
  return rows[0]?.id
}

/** Cancels the jobs that were inserted while the model was being deleted. */
export async function cancelLeftJobs(pool: Pool, modelId: string): Promise<void> {
  await withTransaction(pool, async (connection) => {
    await cancelModelJobs(connection, await lockModelJobs(connection, { id: modelId }))
  })
}

const jobResource = pickColumns(jobColumns, 'id', 'namespace', 'crName')

/** A job and its resource. */
export type JobResourceRow = RowOf<typeof jobResource>

/** Lists the jobs of a model in order of arrival. */
export async function listModelJobResources(pool: Pool, modelId: string): Promise<JobResourceRow[]> {
  const { rows } = await pool.query<JobResourceRow>(
    `SELECT ${selectColumns(jobResource, 'j')} FROM training.jobs j WHERE j.model_id = $1 ORDER BY j.arrival`,
    [modelId],
  )
  return rows
}

/** Records that a model's resources, adapters and files were removed. */
export async function markModelFilesRemoved(pool: Pool, modelId: string): Promise<void> {
  await withTransaction(pool, async (connection) => {
    await connection.query('UPDATE training.checkpoints SET files_removed_at = now() WHERE model_id = $1', [modelId])
    await connection.query(
      'UPDATE training.models SET files_removed_at = now() WHERE id = $1 AND files_removed_at IS NULL',
      [modelId],
    )
  })
}

/** Records that only tombstones are left of a model: its own row, and the rows of its checkpoints and jobs. */
export async function markModelRowsRemoved(pool: Pool, modelId: string): Promise<void> {
  await pool.query('UPDATE training.models SET rows_removed_at = now() WHERE id = $1', [modelId])
}
