import { pickColumns, selectColumns, type RowOf } from '../columns.ts'
import type { Pool } from '../pool.ts'
import { modelColumns } from './table.ts'

const modelNameColumns = pickColumns(modelColumns, 'entity', 'project', 'name')

/** Where a model is: unique among all, hidden ones too. */
export type ModelName = RowOf<typeof modelNameColumns>

export const modelRowColumns = {
  ...modelNameColumns,
  ...pickColumns(modelColumns, 'id', 'baseModel', 'namespace', 'crName', 'createdAt', 'hiddenAt'),
}

export type ModelRow = RowOf<typeof modelRowColumns>

const columns = selectColumns(modelRowColumns, 'm')

/** The model of this name, hidden or not. */
export async function findModelByName(pool: Pool, { entity, project, name }: ModelName): Promise<ModelRow | undefined> {
  const { rows } = await pool.query<ModelRow>(
    `SELECT ${columns} FROM training.models m WHERE entity = $1 AND project = $2 AND name = $3 AND deleted_at IS NULL`,
    [entity, project, name],
  )
  return rows[0]
}

/** The names of an entity's newest models that are not hidden. */
export async function listNewestModels(pool: Pool, entity: string, limit: number): Promise<ModelName[]> {
  const { rows } = await pool.query<ModelName>({
    name: 'list_newest_models',
    text: `SELECT entity, project, name FROM training.models
     WHERE entity = $1 AND hidden_at IS NULL AND deleted_at IS NULL ORDER BY created_at DESC, id DESC LIMIT $2`,
    values: [entity, limit],
  })
  return rows
}

/** An entity's own model that is not hidden. */
export async function findModel(pool: Pool, entity: string, id: string): Promise<ModelRow | undefined> {
  const { rows } = await pool.query<ModelRow>(
    `SELECT ${columns} FROM training.models m WHERE id = $1 AND entity = $2 AND hidden_at IS NULL AND deleted_at IS NULL`,
    [id, entity],
  )
  return rows[0]
}

/** Shows a hidden model again. Its resource is wanted again, so the operator creates it. */
export async function unhideModel(pool: Pool, id: string): Promise<void> {
  await pool.query(
    'UPDATE training.models SET hidden_at = NULL, resource_created_at = NULL WHERE id = $1 AND hidden_at IS NOT NULL',
    [id],
  )
}

/** An entity's models that are not hidden, by name. */
export async function listModels(pool: Pool, entity: string, limit: number): Promise<ModelRow[]> {
  const { rows } = await pool.query<ModelRow>(
    `SELECT ${columns} FROM training.models m WHERE entity = $1 AND hidden_at IS NULL AND deleted_at IS NULL ORDER BY project, name LIMIT $2`,
    [entity, limit],
  )
  return rows
}
