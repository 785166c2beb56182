import { pickColumns, selectColumns, type RowOf } from '../columns.ts'
import type { Pool } from '../pool.ts'
import { modelColumns } from './table.ts'

const modelNameColumns = pickColumns(modelColumns, 'entity', 'project', 'name')

/** A model's full name. It is unique among all models, hidden ones too. */
export type ModelName = RowOf<typeof modelNameColumns>

export const modelRowColumns = {
  ...modelNameColumns,
  ...pickColumns(modelColumns, 'id', 'baseModel', 'namespace', 'crName', 'createdAt', 'hiddenAt'),
}

export type ModelRow = RowOf<typeof modelRowColumns>

const columns = selectColumns(modelRowColumns, 'm')

/** Finds a model by name, hidden or not. */
export async function findModelByName(pool: Pool, { entity, project, name }: ModelName): Promise<ModelRow | undefined> {
  const { rows } = await pool.query<ModelRow>(
    `SELECT ${columns} FROM training.models m WHERE entity = $1 AND project = $2 AND name = $3 AND deleted_at IS NULL`,
    [entity, project, name],
  )
  return rows[0]
}

/** Lists the names of an entity's newest visible models. */
export async function listNewestModels(pool: Pool, entity: string, limit: number): Promise<ModelName[]> {
  const { rows } = await pool.query<ModelName>(
    `SELECT entity, project, name FROM training.models
     WHERE entity = $1 AND hidden_at IS NULL AND deleted_at IS NULL ORDER BY created_at DESC, id DESC LIMIT $2`,
    [entity, limit],
  )
  return rows
}

/** Finds a visible model of an entity. */
export async function findModel(pool: Pool, entity: string, id: string): Promise<ModelRow | undefined> {
  const { rows } = await pool.query<ModelRow>(
    `SELECT ${columns} FROM training.models m WHERE id = $1 AND entity = $2 AND hidden_at IS NULL AND deleted_at IS NULL`,
    [id, entity],
  )
  return rows[0]
}

/** Makes a hidden model visible again. The operator recreates its resource. */
export async function unhideModel(pool: Pool, id: string): Promise<void> {
  await pool.query(
    'UPDATE training.models SET hidden_at = NULL, resource_created_at = NULL WHERE id = $1 AND hidden_at IS NOT NULL',
    [id],
  )
}

/** Lists an entity's visible models by name. */
export async function listModels(pool: Pool, entity: string, limit: number): Promise<ModelRow[]> {
  const { rows } = await pool.query<ModelRow>(
    `SELECT ${columns} FROM training.models m WHERE entity = $1 AND hidden_at IS NULL AND deleted_at IS NULL ORDER BY project, name LIMIT $2`,
    [entity, limit],
  )
  return rows
}
