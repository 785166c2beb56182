import type { Pool } from '../pool.ts'

/** What a project pays for each token of a model, from a date on. */
export interface CostRow {
  id: string
  llmId: string
  providerId: string
  effectiveDate: string
  promptTokenCost: number
  completionTokenCost: number
  promptTokenCostUnit: string | null
  completionTokenCostUnit: string | null
  cacheReadInputTokenCost: number
  cacheCreationInputTokenCost: number
  createdBy: string
  createdAt: string
}

/** A cost to be; without a date it begins at once. */
export type NewCost = Omit<CostRow, 'createdAt' | 'effectiveDate'> & { effectiveDate: string | null }

const columns = `id, llm_id AS "llmId", provider_id AS "providerId", effective_date AS "effectiveDate",
  prompt_token_cost AS "promptTokenCost", completion_token_cost AS "completionTokenCost",
  prompt_token_cost_unit AS "promptTokenCostUnit", completion_token_cost_unit AS "completionTokenCostUnit",
  cache_read_input_token_cost AS "cacheReadInputTokenCost",
  cache_creation_input_token_cost AS "cacheCreationInputTokenCost", created_by AS "createdBy", created_at AS "createdAt"`

export async function insertCosts(pool: Pool, project: number, costs: NewCost[]): Promise<void> {
  await pool.query(
    `INSERT INTO tracing.costs
     SELECT $1, g.id, g."llmId", g."providerId", coalesce(g."effectiveDate", now()), g."promptTokenCost",
       g."completionTokenCost", g."promptTokenCostUnit", g."completionTokenCostUnit", g."cacheReadInputTokenCost",
       g."cacheCreationInputTokenCost", g."createdBy", now()
     FROM json_to_recordset($2) AS g (id text, "llmId" text, "providerId" text, "effectiveDate" timestamptz,
       "promptTokenCost" float8, "completionTokenCost" float8, "promptTokenCostUnit" text,
       "completionTokenCostUnit" text, "cacheReadInputTokenCost" float8, "cacheCreationInputTokenCost" float8,
       "createdBy" text)`,
    [project, JSON.stringify(costs)],
  )
}

/** All costs, of any date, that a project has for models. */
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
