import type { Pool } from '../pool.ts'

export type UsageDimension = 'project' | 'model' | 'key' | 'hour' | 'day'

export interface UsageQuery {
  from: Date
  to: Date
  groupBy: UsageDimension[]
  project?: string | undefined
  modelId?: string | undefined
  keyId?: string | undefined
  /** The page begins after this group. */
  after?: string[] | undefined
  limit: number
}

export interface UsageRow {
  /** The group's value in each dimension; '' where it has none. */
  group: string[]
  /** The model name in chats, if the groups are by model. */
  model: string
  requests: number
  promptTokens: number
  completionTokens: number
  trainedTokens: number
  trainingSeconds: number
  gpuSeconds: number
}

const expressions: Record<UsageDimension, string> = {
  project: "coalesce(u.project, '')",
  model: 'coalesce(u.model_id::text, u.base_model)',
  key: "coalesce(u.key_id::text, '')",
  hour: `to_char(u.hour AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`,
  day: "to_char(u.hour AT TIME ZONE 'UTC', 'YYYY-MM-DD')",
}

/** Sums an entity's usage from `from` to `to` by groups, ordered by group. */
export async function sumUsage(pool: Pool, entity: string, query: UsageQuery): Promise<UsageRow[]> {
  const { from, to, groupBy, project, modelId, keyId, after, limit } = query
  const groups = groupBy.map((dimension) => `${expressions[dimension]} COLLATE "C"`)
  const { rows } = await pool.query<UsageRow>(
    `SELECT ARRAY[${groups.join(', ')}]::text[] AS "group",
       coalesce(max(m.entity || '/' || m.project || '/' || m.name), max(u.base_model), '') AS model,
       coalesce(sum(requests), 0)::bigint AS requests,
       coalesce(sum(prompt_tokens), 0)::bigint AS "promptTokens",
       coalesce(sum(completion_tokens), 0)::bigint AS "completionTokens",
       coalesce(sum(trained_tokens), 0)::bigint AS "trainedTokens",
       coalesce(sum(training_seconds), 0) AS "trainingSeconds", coalesce(sum(gpu_seconds), 0) AS "gpuSeconds"
     FROM training.usage u LEFT JOIN training.models m ON m.id = u.model_id
     WHERE u.entity = $1 AND u.hour >= date_trunc('hour', to_timestamp($2), 'UTC') AND u.hour < to_timestamp($3)
       AND ($4::text IS NULL OR u.project = $4) AND ($5::uuid IS NULL OR u.model_id = $5)
       AND ($6::uuid IS NULL OR u.key_id = $6)
     ${groups.length > 0 ? `GROUP BY ${groups.join(', ')}` : ''}
     HAVING $7::text[] IS NULL OR ARRAY[${groups.join(', ')}]::text[] > $7 COLLATE "C"
     ${groups.length > 0 ? `ORDER BY ${groups.join(', ')}` : ''} LIMIT $8`,
    [
      entity,
      from.getTime() / 1_000,
      to.getTime() / 1_000,
      project ?? null,
      modelId ?? null,
      keyId ?? null,
      after ?? null,
      limit,
    ],
  )
  return rows
}
