import type { Pool } from '../pool.ts'

/** A delivery that this process has claimed for a while. */
export interface ClaimedDelivery {
  id: string
  webhookId: string
  /** Identifies the attempt that holds it. */
  claim: string
  /** Including this one. */
  attempts: number
  url: string
  entity: string
  /** The secrets to sign with, as stored: two while a secret is being rotated, the current one first. */
  sealedSecrets: (string | null)[]
  /** Failed attempts to this webhook since its last success. */
  failures: number
  eventId: string
  kind: string
  at: Date
  data: Record<string, unknown>
}

/** How an attempt ended. */
export interface AttemptOutcome {
  delivered: boolean
  /** The status of the HTTP response. */
  status: number | null
  error: string | null
  /** After a failure: when to try it again. */
  retryInMs: number
  /** After a failure: how long to pause the webhook. */
  pauseMs: number
}

// An attempt takes at most 10 s. The deliveries of a killed operator are sent again after this time.
const claimSeconds = 20
const atOncePerWebhook = 4
// A quarter of what the deliverer has room for.
const atOncePerEntity = 128

/**
 * Claims at most `limit` due deliveries. Of each subject only the earliest is claimed, so that its deliveries stay in
 * order. Each webhook has a few at a time, but only one while its attempts fail, so that a dead endpoint takes no room
 * from others. Each entity has a share of all. Entities with the fewest running attempts come first, and of each entity its
 * webhooks with the fewest.
 */
export async function claimDeliveries(pool: Pool, limit: number): Promise<ClaimedDelivery[]> {
  const { rows } = await pool.query<ClaimedDelivery>(
    `WITH running AS (
       SELECT w.entity, count(*) AS attempts
       FROM training.webhook_deliveries c JOIN training.webhooks w ON w.id = c.webhook_id
       WHERE c.claim IS NOT NULL AND c.claimed_until >= clock_timestamp()
       GROUP BY w.entity
     ), ranked AS (
       SELECT next.id, next.next_attempt_at, w.entity,
         under_way.attempts + row_number() OVER (PARTITION BY w.id ORDER BY next.next_attempt_at) AS rank
       FROM training.webhooks w
       CROSS JOIN LATERAL (
         SELECT count(*) AS attempts FROM training.webhook_deliveries c
         WHERE c.webhook_id = w.id AND c.claim IS NOT NULL AND c.claimed_until >= clock_timestamp()
       ) under_way
       CROSS JOIN LATERAL (
         SELECT d.id, d.next_attempt_at FROM training.webhook_deliveries d
         WHERE d.webhook_id = w.id AND d.state = 'pending' AND d.next_attempt_at <= clock_timestamp()
           AND (d.claim IS NULL OR d.claimed_until < clock_timestamp())
           AND NOT EXISTS (
             SELECT FROM training.webhook_deliveries e WHERE e.webhook_id = w.id AND e.subject_id = d.subject_id
               AND e.state = 'pending' AND e.position < d.position)
         ORDER BY d.next_attempt_at, d.position
         LIMIT greatest(0, CASE WHEN w.failures > 0 THEN 1 ELSE ${atOncePerWebhook} END - under_way.attempts)
       ) next
       WHERE w.deleted_at IS NULL AND w.retry_at <= clock_timestamp()
     ), due AS (
       SELECT id FROM (
         SELECT id, next_attempt_at, coalesce(running.attempts, 0)
           + row_number() OVER (PARTITION BY entity ORDER BY rank, next_attempt_at) AS rank
         FROM ranked LEFT JOIN running USING (entity)
       ) of_entities
       WHERE rank <= ${atOncePerEntity}
       ORDER BY rank, next_attempt_at
       LIMIT $1
     ), free AS (
       -- Whoever replays them at this moment is not waited for: the two could wait for each other.
       SELECT id FROM training.webhook_deliveries
       WHERE id IN (SELECT id FROM due) AND state = 'pending' AND (claim IS NULL OR claimed_until < clock_timestamp())
       FOR UPDATE SKIP LOCKED
     )
     UPDATE training.webhook_deliveries d
     SET claim = gen_random_uuid(), claimed_until = clock_timestamp() + make_interval(secs => ${claimSeconds}),
       attempts = d.attempts + 1
     FROM free, training.webhooks w, training.outbox o
     WHERE d.id = free.id AND w.id = d.webhook_id AND o.position = d.position
     RETURNING d.id, d.webhook_id AS "webhookId", d.claim, d.attempts, w.url, w.entity, w.failures,
       CASE WHEN w.old_secret_until > clock_timestamp() THEN ARRAY[w.sealed_secret, w.sealed_old_secret]
         ELSE ARRAY[w.sealed_secret] END AS "sealedSecrets",
       o.event_id AS "eventId", o.kind, o.at, o.data`,
    [limit],
  )
  return rows
}

/** Records how an attempt ended, unless another process has the delivery or it will be replayed. */
export async function recordAttempt(pool: Pool, delivery: ClaimedDelivery, outcome: AttemptOutcome): Promise<void> {
  const { delivered, status, error, retryInMs, pauseMs } = outcome
  await pool.query(
    `WITH noted AS (
       UPDATE training.webhook_deliveries SET claim = NULL, claimed_until = NULL, last_status = $3, last_error = $4,
         state = CASE WHEN $5 THEN 'delivered' WHEN gives_up_at < clock_timestamp() THEN 'failed' ELSE state END,
         delivered_at = CASE WHEN $5 THEN clock_timestamp() END,
         next_attempt_at = clock_timestamp() + make_interval(secs => $6)
       WHERE id = $1 AND claim = $2 RETURNING webhook_id
     )
     UPDATE training.webhooks SET failures = CASE WHEN $5 THEN 0 ELSE failures + 1 END,
       retry_at = CASE WHEN $5 THEN '-infinity' ELSE clock_timestamp() + make_interval(secs => $7) END
     FROM noted WHERE id = noted.webhook_id`,
    [delivery.id, delivery.claim, status, error, delivered, retryInMs / 1000, pauseMs / 1000],
  )
}

/** Returns a delivery whose attempt was interrupted. */
export async function unclaimDelivery(pool: Pool, { id, claim }: ClaimedDelivery): Promise<void> {
  await pool.query(
    `UPDATE training.webhook_deliveries SET claim = NULL, claimed_until = NULL, attempts = attempts - 1
     WHERE id = $1 AND claim = $2`,
    [id, claim],
  )
}
