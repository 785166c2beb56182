import type { Pool } from '../pool.ts'

/** The account that a chat, or a part of a training, is charged to. */
export interface UsageAccount {
  entity: string
  project: string | null
  modelId: string | null
  baseModel: string
  keyId: string
}

/** The chat usage of one account in one hour. */
export interface ChatUsage extends UsageAccount {
  /** When the hour begins, in RFC 3339. */
  hour: string
  requests: number
  promptTokens: number
  completionTokens: number
}

/** The chat usage that one process has collected. A batch that is sent twice counts once. */
export interface UsageBatch {
  process: string
  number: number
  rows: ChatUsage[]
}

/** Adds a whole batch, or nothing. */
export async function addChatUsage(pool: Pool, { process, number, rows }: UsageBatch): Promise<void> {
  await pool.query(
    `WITH fresh AS (
       INSERT INTO training.usage_writers (process, batch, written_at) VALUES ($1, $2, now())
       ON CONFLICT (process) DO UPDATE SET batch = excluded.batch, written_at = excluded.written_at
       WHERE usage_writers.batch < excluded.batch RETURNING process
     )
     INSERT INTO training.usage AS known
       (entity, hour, project, model_id, base_model, key_id, requests, prompt_tokens, completion_tokens)
     SELECT r.entity, r.hour, r.project, r."modelId", r."baseModel", r."keyId", r.requests, r."promptTokens",
       r."completionTokens"
     FROM fresh, jsonb_to_recordset($3) AS r (entity text, hour timestamptz, project text, "modelId" uuid,
       "baseModel" text, "keyId" uuid, requests bigint, "promptTokens" bigint, "completionTokens" bigint)
     ORDER BY r.entity, r.hour, r.project, r."modelId", r."baseModel", r."keyId"
     ON CONFLICT (entity, hour, project, model_id, base_model, key_id) DO UPDATE SET
       requests = known.requests + excluded.requests,
       prompt_tokens = known.prompt_tokens + excluded.prompt_tokens,
       completion_tokens = known.completion_tokens + excluded.completion_tokens`,
    [process, number, JSON.stringify(rows)],
  )
}

/** Deletes the rows of processes that have not written for a day: they have ended. */
export async function expireUsageWriters(pool: Pool): Promise<void> {
  await pool.query("DELETE FROM training.usage_writers WHERE written_at < now() - interval '1 day'")
}
