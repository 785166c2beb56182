import type { Pool } from '../pool.ts'

// A model that was asked in this time is in use.
const inUseSeconds = 15 * 60

/** The newest checkpoints that the engines of a base model should have loaded, the most important first. */
export interface WantedAdapters {
  /** Of models with spec.keepLoaded. */
  kept: string[]
  /** Of the other models in use. */
  inUse: string[]
}

/** How many models of a base model can be kept loaded: half of what an engine has room for. */
export function limitKept(maxAdapters: number): number {
  return Math.ceil(maxAdapters / 2)
}

/**
 * Lists what the engines of a base model should have loaded, at most `maxAdapters`. Entities take turns, so that the
 * models of one entity do not displace all others.
 */
export async function listWantedAdapters(pool: Pool, baseModel: string, maxAdapters: number): Promise<WantedAdapters> {
  const { rows } = await pool.query<{ id: string; isKept: boolean }>(
    `WITH uses AS (
       SELECT model_id, max(asked_at) AS asked_at FROM training.adapter_uses
       WHERE asked_at > now() - make_interval(secs => $4) GROUP BY model_id
     ), candidates AS (
       SELECT model_id FROM uses UNION SELECT id FROM training.models WHERE base_model = $1 AND keep_loaded
     ), newest AS (
       SELECT m.id, m.entity, m.created_at, m.keep_loaded, u.asked_at, c.id AS checkpoint_id
       FROM candidates JOIN training.models m ON m.id = candidates.model_id
       LEFT JOIN uses u ON u.model_id = m.id
       CROSS JOIN LATERAL (SELECT id FROM training.checkpoints
         WHERE model_id = m.id AND deleted_at IS NULL ORDER BY step DESC LIMIT 1) c
       WHERE m.base_model = $1 AND m.hidden_at IS NULL AND m.deleted_at IS NULL
     ), kept AS (
       SELECT id, checkpoint_id, row_number() OVER (ORDER BY turn, created_at, id) AS rank
       FROM (SELECT *, row_number() OVER (PARTITION BY entity ORDER BY created_at, id) AS turn
         FROM newest WHERE keep_loaded) AS turns
       ORDER BY rank LIMIT $3
     ), used AS (
       SELECT checkpoint_id, row_number() OVER (ORDER BY turn, asked_at DESC, id) AS rank
       FROM (SELECT *, row_number() OVER (PARTITION BY entity ORDER BY asked_at DESC, id) AS turn
         FROM newest WHERE asked_at IS NOT NULL AND id NOT IN (SELECT id FROM kept)) AS turns
       ORDER BY rank LIMIT $2 - (SELECT count(*) FROM kept)
     )
     SELECT checkpoint_id AS id, true AS "isKept", rank FROM kept
     UNION ALL SELECT checkpoint_id, false, rank FROM used ORDER BY 2 DESC, 3`,
    [baseModel, maxAdapters, limitKept(maxAdapters), inUseSeconds],
  )
  const idsOf = (isKept: boolean) => rows.filter((row) => row.isKept === isKept).map(({ id }) => id)
  return { kept: idsOf(true), inUse: idsOf(false) }
}
