import { column, readRecords, selectColumns, type RowOf } from '../columns.ts'
import type { Pool } from '../pool.ts'

const givenColumns = {
  id: column<string>('id', 'text'),
  llmId: column<string>('llm_id', 'text'),
  providerId: column<string>('provider_id', 'text'),
  promptTokenCost: column<number>('prompt_token_cost', 'double precision'),
  completionTokenCost: column<number>('completion_token_cost', 'double precision'),
  promptTokenCostUnit: column<string | null>('prompt_token_cost_unit', 'text'),
  completionTokenCostUnit: column<string | null>('completion_token_cost_unit', 'text'),
  cacheReadInputTokenCost: column<number>('cache_read_input_token_cost', 'double precision'),
  cacheCreationInputTokenCost: column<number>('cache_creation_input_token_cost', 'double precision'),
  createdBy: column<string>('created_by', 'text'),
}

/** The columns of `tracing.costs`. */
export const costColumns = {
  ...givenColumns,
  effectiveDate: column<string>('effective_date', 'timestamptz'),
  createdAt: column<string>('created_at', 'timestamptz'),
}

/** What a project pays for each token of a model from a date on. */
export type CostRow = RowOf<typeof costColumns>

/** A cost to insert. Without a date it takes effect now. */
export interface NewCost extends RowOf<typeof givenColumns> {
  effectiveDate: string | null
}

const columns = selectColumns(costColumns)
const given = readRecords(givenColumns, 'g')

export async function insertCosts(pool: Pool, project: number, costs: NewCost[]): Promise<void> {
  await pool.query(
    `INSERT INTO tracing.costs (project, ${given.names}, effective_date, created_at)
     SELECT $1, ${given.fields}, coalesce(g."effectiveDate", now()), now()
     FROM json_to_recordset($2) AS g (${given.definition}, "effectiveDate" timestamptz)`,
    [project, JSON.stringify(costs)],
  )
}

/** Lists all costs that a project has set for models, of any date. */
export async function listCostsOf(pool: Pool, project: number, llmIds: string[]): Promise<CostRow[]> {
  const { rows } = await pool.query<CostRow>(
    `SELECT ${columns} FROM tracing.costs WHERE project = $1 AND llm_id = ANY ($2)`,
    [project, llmIds],
  )
  return rows
}

export async function deleteCosts(pool: Pool, project: number, ids: string[]): Promise<void> {
  await pool.query('DELETE FROM tracing.costs WHERE project = $1 AND id = ANY ($2)', [project, ids])
}
