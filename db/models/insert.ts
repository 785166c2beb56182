import { insertRow, selectColumns } from '../columns.ts'
import type { Connection } from '../pool.ts'
import { modelRowColumns, type ModelRow } from './models.ts'
import { newModelColumns, type NewModel } from './table.ts'

/** Inserts a model. Returns undefined if its name or id is taken. Of concurrent inserts, only one gets the name. */
export async function insertModel(connection: Connection, model: NewModel): Promise<ModelRow | undefined> {
  const { names, parameters, values } = insertRow(newModelColumns, model)
  const { rows } = await connection.query<ModelRow>(
    `INSERT INTO training.models AS m (${names}) VALUES (${parameters}) ON CONFLICT DO NOTHING
     RETURNING ${selectColumns(modelRowColumns, 'm')}`,
    values,
  )
  return rows[0]
}
