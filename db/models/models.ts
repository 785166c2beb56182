import type { Pool } from '../pool.ts'
import type { Retention } from '../retention/checkpoints.ts'

/** Where a model is: unique among all, hidden ones too. */
export interface ModelName {
  entity: string
  project: string
  name: string
}

export interface ModelRow extends ModelName {
  id: string
  baseModel: string
  namespace: string
  crName: string
  createdAt: Date
  hiddenAt: Date | null
}

export interface NewModel extends Omit<ModelRow, 'createdAt' | 'hiddenAt'> {
  /** The key that asked for it. */
  keyId: string
  /** What keeps its checkpoints; null keeps all. */
  retention: Retention | null
}

const columns = `m.id, m.entity, m.project, m.name, m.base_model AS "baseModel", m.namespace, m.cr_name AS "crName",
  m.created_at AS "createdAt", m.hidden_at AS "hiddenAt"`

/** Makes a model, or nothing (undefined) when its name or id is taken: of many at once exactly one gets it. */
export async function insertModel(pool: Pool, model: NewModel): Promise<ModelRow | undefined> {
  const { rows } = await pool.query<ModelRow>(
    `INSERT INTO training.models AS m (id, entity, project, name, base_model, namespace, cr_name, key_id, retention)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     ON CONFLICT DO NOTHING
     RETURNING ${columns}`,
    [
      model.id,
      model.entity,
      model.project,
      model.name,
      model.baseModel,
      model.namespace,
      model.crName,
      model.keyId,
      model.retention && JSON.stringify(model.retention),
    ],
  )
  return rows[0]
}

/** The model of this name, hidden or not. */
export async function findModelByName(pool: Pool, { entity, project, name }: ModelName): Promise<ModelRow | undefined> {
  const { rows } = await pool.query<ModelRow>(
    `SELECT ${columns} FROM training.models m WHERE entity = $1 AND project = $2 AND name = $3 AND deleted_at IS NULL`,
    [entity, project, name],
  )
  return rows[0]
}

/** The newest model of an entity that has a name, in whichever project. */
export async function findModelByLastName(pool: Pool, entity: string, name: string): Promise<ModelRow | undefined> {
  const { rows } = await pool.query<ModelRow>(
    `SELECT ${columns} FROM training.models m
     WHERE entity = $1 AND name = $2 AND hidden_at IS NULL AND deleted_at IS NULL ORDER BY created_at DESC LIMIT 1`,
    [entity, name],
  )
  return rows[0]
}

/** An entity's own model that is not hidden. */
export async function findModel(pool: Pool, entity: string, id: string): Promise<ModelRow | undefined> {
  const { rows } = await pool.query<ModelRow>(
    `SELECT ${columns} FROM training.models m WHERE id = $1 AND entity = $2 AND hidden_at IS NULL AND deleted_at IS NULL`,
    [id, entity],
  )
  return rows[0]
}

/** Shows a hidden model again; its resource is wanted again, so the operator makes it. */
export async function unhideModel(pool: Pool, id: string): Promise<void> {
  await pool.query(
    'UPDATE training.models SET hidden_at = NULL, cr_made_at = NULL WHERE id = $1 AND hidden_at IS NOT NULL',
    [id],
  )
}

/** Notes that a model's resource was made. */
export async function markModelResourceMade(pool: Pool, id: string): Promise<void> {
  await pool.query('UPDATE training.models SET cr_made_at = now() WHERE id = $1 AND cr_made_at IS NULL', [id])
}

/** An entity's models that are not hidden, by name. */
export async function listModels(pool: Pool, entity: string, limit: number): Promise<ModelRow[]> {
  const { rows } = await pool.query<ModelRow>(
    `SELECT ${columns} FROM training.models m WHERE entity = $1 AND hidden_at IS NULL AND deleted_at IS NULL ORDER BY project, name LIMIT $2`,
    [entity, limit],
  )
  return rows
}
