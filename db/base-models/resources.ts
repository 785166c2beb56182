import type { Pool } from '../pool.ts'

interface RegisteredBaseModel {
  namespace: string
  crName: string
  /** The first is the canonical one. */
  names: string[]
  /** Whether it answers chats that name no model. */
  isDefault: boolean
  /** When the resource was created. */
  createdAt: Date
}

/**
 * Registers a base model under its names, for the apiserver. If another base model has one of the names, returns that
 * name and changes nothing.
 */
export async function registerBaseModel(pool: Pool, baseModel: RegisteredBaseModel): Promise<string | undefined> {
  const { namespace, crName, names, isDefault, createdAt } = baseModel
  const { rows } = await pool.query<{ names: string[] }>(
    `SELECT names FROM training.base_models WHERE names && $3 AND NOT (namespace = $1 AND cr_name = $2) LIMIT 1`,
    [namespace, crName, names],
  )
  if (rows[0]) return rows[0].names.find((name) => names.includes(name))
  await pool.query(
    `INSERT INTO training.base_models AS b (name, names, namespace, cr_name, is_default, created_at)
     VALUES ($3, $4, $1, $2, $5, $6)
     ON CONFLICT (namespace, cr_name)
     DO UPDATE SET name = $3, names = $4, is_default = $5, created_at = $6, updated_at = now()
     WHERE (b.names, b.is_default, b.created_at) IS DISTINCT FROM ($4::text[], $5::boolean, $6::timestamptz)`,
    [namespace, crName, names[0], names, isDefault, createdAt],
  )
  return undefined
}

/** The canonical name of the base model that a resource registered. */
export async function findRegisteredName(pool: Pool, namespace: string, crName: string): Promise<string | undefined> {
  const { rows } = await pool.query<{ name: string }>(
    'SELECT name FROM training.base_models WHERE namespace = $1 AND cr_name = $2',
    [namespace, crName],
  )
  return rows[0]?.name
}

/** Removes a base model whose resource is gone. The rows of its models stay. Returns true if it was registered. */
export async function unregisterBaseModel(pool: Pool, namespace: string, crName: string): Promise<boolean> {
  const { rowCount } = await pool.query('DELETE FROM training.base_models WHERE namespace = $1 AND cr_name = $2', [
    namespace,
    crName,
  ])
  return rowCount === 1
}

/** Lists the resource names of the registered base models of a namespace. */
export async function listRegisteredBaseModels(pool: Pool, namespace: string): Promise<string[]> {
  const { rows } = await pool.query<{ crName: string }>(
    'SELECT cr_name AS "crName" FROM training.base_models WHERE namespace = $1',
    [namespace],
  )
  return rows.map((row) => row.crName)
}
