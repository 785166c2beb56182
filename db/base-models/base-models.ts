import type { JobMode } from '../../crds/manifests.ts'
import { column, selectColumns, type RowOf } from '../columns.ts'
import type { Pool } from '../pool.ts'

export const baseModelColumns = {
  /** The canonical name. */
  name: column<string>('name', 'text'),
  names: column<string[]>('names', 'text[]'),
  crName: column<string>('cr_name', 'text'),
  /** Whether it answers chats that name no model. */
  isDefault: column<boolean>('is_default', 'boolean'),
  /** When its resource was created. */
  createdAt: column<Date>('created_at', 'timestamptz'),
  updatedAt: column<Date>('updated_at', 'timestamptz'),
  /** The maximum rank of its adapters. */
  maxLoraRank: column<number | null>('max_lora_rank', 'integer'),
  /** The trainer mode of jobs that name none. */
  defaultMode: column<JobMode>('default_mode', 'text'),
}

/** A base model that the operator serves and trains. */
export type BaseModelRow = RowOf<typeof baseModelColumns>

const columns = selectColumns(baseModelColumns)

/** Finds the base model with this name, canonical or not. */
export async function findBaseModel(pool: Pool, name: string): Promise<BaseModelRow | undefined> {
  // Postgres accepts no NUL in a text, so no name contains one.
  if (name.includes('\0')) return undefined
  const { rows } = await pool.query<BaseModelRow>(
    `SELECT ${columns} FROM training.base_models WHERE $1 = ANY (names) ORDER BY name LIMIT 1`,
    [name],
  )
  return rows[0]
}

/** Lists all base models by name. */
export async function listBaseModels(pool: Pool): Promise<BaseModelRow[]> {
  const { rows } = await pool.query<BaseModelRow>(`SELECT ${columns} FROM training.base_models ORDER BY name`)
  return rows
}

/** Lists the resource names of these under which no base model is registered. */
export async function listUnregistered(pool: Pool, crNames: string[]): Promise<string[]> {
  const { rows } = await pool.query<{ crName: string }>(
    `SELECT wanted AS "crName" FROM unnest($1::text[]) AS wanted
     WHERE NOT EXISTS (SELECT FROM training.base_models WHERE cr_name = wanted)`,
    [crNames],
  )
  return rows.map(({ crName }) => crName)
}
