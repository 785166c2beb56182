import { pickColumns, selectColumns, type RowOf } from '../columns.ts'
import type { Pool } from '../pool.ts'
import { modelColumns } from './table.ts'

const columns = pickColumns(
  modelColumns,
  'id',
  'entity',
  'project',
  'name',
  'namespace',
  'crName',
  'deletionPolicy',
  'keepLoaded',
  'resourceAliases',
)

/** A model with everything that its resource is built from. */
export interface ModelWithoutResource extends RowOf<typeof columns> {
  baseModelCrName: string
}

/** Lists a namespace's models without a resource, oldest first. Models without a base model wait. */
export async function listModelsWithoutResource(pool: Pool, namespace: string): Promise<ModelWithoutResource[]> {
  const { rows } = await pool.query<ModelWithoutResource>(
    `SELECT ${selectColumns(columns, 'm')}, b.cr_name AS "baseModelCrName"
     FROM training.models m JOIN training.base_models b ON b.name = m.base_model
     WHERE m.resource_created_at IS NULL AND m.hidden_at IS NULL AND m.deleted_at IS NULL AND m.namespace = $1
     ORDER BY m.created_at LIMIT 100`,
    [namespace],
  )
  return rows
}

/** Records that the resource of a model was created. */
export async function markModelResourceCreated(pool: Pool, id: string): Promise<void> {
  await pool.query(
    'UPDATE training.models SET resource_created_at = now() WHERE id = $1 AND resource_created_at IS NULL',
    [id],
  )
}
