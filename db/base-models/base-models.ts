import type { Pool } from '../pool.ts'

/** A base model that the operator serves and trains. */
export interface BaseModelRow {
  /** Its canonical name. */
  name: string
  names: string[]
  crName: string
  updatedAt: Date
}

const columns = 'name, names, cr_name AS "crName", updated_at AS "updatedAt"'

/** The base model that goes by this name, canonical or not, or undefined. */
export async function findBaseModel(pool: Pool, name: string): Promise<BaseModelRow | undefined> {
  // Postgres takes no NUL in a text, so no name has one.
  if (name.includes('\0')) return undefined
  const { rows } = await pool.query<BaseModelRow>(
    `SELECT ${columns} FROM training.base_models WHERE $1 = ANY (names) ORDER BY name LIMIT 1`,
    [name],
  )
  return rows[0]
}

/** All base models, by name. */
export async function listBaseModels(pool: Pool): Promise<BaseModelRow[]> {
  const { rows } = await pool.query<BaseModelRow>(`SELECT ${columns} FROM training.base_models ORDER BY name`)
  return rows
}
