import type { Connection, Pool } from '../pool.ts'
import type { TokenStatisticsSetting } from './token-statistics.ts'

/** What an entity may use; null where the installation's default holds. */
export interface EntityLimits {
  requestsPerMinute: number | null
  /** Chats under way, streamed or not, in one process of the gateway. */
  concurrentStreams: number | null
  /** Unfinished training jobs. */
  queuedJobs: number | null
  storedBytes: number | null
  /** How long payloads of finished jobs are kept. */
  payloadDays: number | null
  /** Whose trained tokens' statistics are kept. */
  tokenStatistics: TokenStatisticsSetting | null
}

const none: EntityLimits = {
  requestsPerMinute: null,
  concurrentStreams: null,
  queuedJobs: null,
  storedBytes: null,
  payloadDays: null,
  tokenStatistics: null,
}

/** The limits that were set for an entity. */
export async function findEntityLimits(connection: Connection, entity: string): Promise<EntityLimits> {
  const { rows } = await connection.query<EntityLimits>(
    `SELECT requests_per_minute AS "requestsPerMinute", concurrent_streams AS "concurrentStreams",
       queued_jobs AS "queuedJobs", stored_bytes AS "storedBytes", payload_days AS "payloadDays",
       token_statistics AS "tokenStatistics"
     FROM auth.entities WHERE entity = $1`,
    [entity],
  )
  return rows[0] ?? none
}

/** Sets all limits of an entity. */
export async function saveEntityLimits(pool: Pool, entity: string, limits: EntityLimits): Promise<void> {
  await pool.query(
    `INSERT INTO auth.entities (entity, requests_per_minute, concurrent_streams, queued_jobs, stored_bytes, payload_days,
       token_statistics)
     VALUES ($1, $2, $3, $4, $5, $6, $7)
     ON CONFLICT (entity) DO UPDATE SET requests_per_minute = excluded.requests_per_minute,
       concurrent_streams = excluded.concurrent_streams, queued_jobs = excluded.queued_jobs,
       stored_bytes = excluded.stored_bytes, payload_days = excluded.payload_days,
       token_statistics = excluded.token_statistics, updated_at = now()`,
    [
      entity,
      limits.requestsPerMinute,
      limits.concurrentStreams,
      limits.queuedJobs,
      limits.storedBytes,
      limits.payloadDays,
      limits.tokenStatistics,
    ],
  )
}

/** Sets whose trained tokens' statistics are kept of an entity, from its next claimed job on. */
export async function saveTokenStatistics(
  pool: Pool,
  entity: string,
  setting: TokenStatisticsSetting | null,
): Promise<void> {
  await pool.query(
    `INSERT INTO auth.entities (entity, token_statistics) VALUES ($1, $2)
     ON CONFLICT (entity) DO UPDATE SET token_statistics = excluded.token_statistics, updated_at = now()`,
    [entity, setting],
  )
}
