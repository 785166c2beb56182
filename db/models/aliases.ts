import { column, selectColumns, type RowOf } from '../columns.ts'
import type { InvalidatingConnection } from '../changes.ts'
import type { Connection, Pool } from '../pool.ts'

export const aliasColumns = {
  alias: column<string>('alias', 'text'),
  step: column<number>('step', 'integer'),
  updatedAt: column<Date>('updated_at', 'timestamptz'),
}

/** A name for a step of a model. */
export type AliasRow = RowOf<typeof aliasColumns>

const columns = selectColumns(aliasColumns)

/** Lists a model's aliases by name. */
export async function listAliases(pool: Pool, modelId: string): Promise<AliasRow[]> {
  const { rows } = await pool.query<AliasRow>(
    `SELECT ${columns} FROM training.aliases WHERE model_id = $1 ORDER BY alias`,
    [modelId],
  )
  return rows
}

/** Sets a new or existing alias to a step. Returns undefined if the model has no such step. Step 0 always exists. */
export async function setAlias(
  connection: InvalidatingConnection,
  modelId: string,
  alias: string,
  step: number,
): Promise<AliasRow | undefined> {
  if (!(await lockStep(connection, modelId, step))) return undefined
  const { rows } = await connection.query<AliasRow>(
    `INSERT INTO training.aliases (model_id, alias, step) VALUES ($1, $2, $3)
     ON CONFLICT (model_id, alias) DO UPDATE SET step = excluded.step, updated_at = now()
     RETURNING ${columns}`,
    [modelId, alias, step],
  )
  await notifyModel(connection, modelId)
  return rows[0]
}

/** Removes an alias, if it names `step` or no step is given. The step stays. Returns false if there is none. */
export async function deleteAlias(
  connection: InvalidatingConnection,
  modelId: string,
  alias: string,
  step?: number,
): Promise<boolean> {
  const { rowCount } = await connection.query(
    'DELETE FROM training.aliases WHERE model_id = $1 AND alias = $2 AND ($3::integer IS NULL OR step = $3)',
    [modelId, alias, step ?? null],
  )
  if (rowCount) await notifyModel(connection, modelId)
  return rowCount === 1
}

/** Nobody can delete the step or the model before the transaction ends. */
async function lockStep(connection: Connection, modelId: string, step: number): Promise<boolean> {
  const model = await connection.query('SELECT FROM training.models WHERE id = $1 AND deleted_at IS NULL FOR SHARE', [
    modelId,
  ])
  if (model.rowCount === 0 || step === 0) return model.rowCount === 1
  const checkpoint = await connection.query(
    'SELECT FROM training.checkpoints WHERE model_id = $1 AND step = $2 AND deleted_at IS NULL FOR SHARE',
    [modelId, step],
  )
  return checkpoint.rowCount === 1
}

/** The status of the model's resource shows the aliases. */
async function notifyModel(connection: Connection, modelId: string): Promise<void> {
  await connection.query("SELECT pg_notify('training_models', $1::text)", [modelId])
}
