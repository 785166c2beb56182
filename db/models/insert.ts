import { insertRow, selectColumns } from '../columns.ts'
import type { Connection } from '../pool.ts'
import { modelRowColumns, type ModelRow } from './models.ts'
import { newModelColumns, type NewModel } from './table.ts'

/** Inserts a model; undefined when its name or id is taken. Of many that are inserted at once exactly one gets a name. */
export async function insertModel(connection: Connection, model: NewModel): Promise<ModelRow | undefined> {
  const { names, parameters, values } = insertRow(newModelColumns, model)
  const { rows } = await connection.query<ModelRow>(
    `INSERT INTO training.models AS m (${names}) VALUES (${parameters}) ON CONFLICT DO NOTHING
     RETURNING ${selectColumns(modelRowColumns, 'm')}`,
    values,
  )
  return rows[0]
}
