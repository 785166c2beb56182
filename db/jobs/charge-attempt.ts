import type { Connection } from '../pool.ts'
import { correctCharge } from './fair-order.ts'
import { held, untrained } from './states.ts'
import { stepType } from '../model-metrics/number-steps.ts'

// A trainer's report counts at most this many tokens in one step.
const maxTokensPerStep = 1e12

/**
 * Charges an attempt that ends now. Call it before the job's row changes, with the row locked and in the same
 * transaction, so that each attempt is charged once. If the job has no attempt to charge, its time is 0.
 *
 * An attempt lasts from its claim until now, or until its lease expired. Concurrent attempts on a trainer share its GPU
 * time. The tokens of all attempts are charged when the job ends, because the listed steps include those of earlier
 * attempts.
 */
export async function chargeAttempt(connection: Connection, jobId: string, endsJob: boolean): Promise<void> {
  const { seconds, share } = await endSpan(connection, jobId)
  await connection.query(correctCharge, [jobId, share])
  await connection.query(
    `INSERT INTO training.usage AS known
       (entity, hour, project, model_id, base_model, key_id, trained_tokens, training_seconds, gpu_seconds)
     SELECT m.entity, date_trunc('hour', clock_timestamp(), 'UTC'), m.project, m.id, m.base_model, j.key_id,
       CASE WHEN $2 THEN steps.tokens ELSE 0 END, $3, $4::float8 * j.gpus
     FROM training.jobs j JOIN training.models m ON m.id = j.model_id,
       LATERAL (
         SELECT coalesce(sum(least(greatest((e.data->>'num_trainable_tokens')::float8, 0), ${maxTokensPerStep})), 0)
           ::bigint AS tokens
         FROM training.events e
         WHERE e.job_id = j.id AND e.type = '${stepType}'
           AND jsonb_typeof(e.data->'num_trainable_tokens') = 'number'
       ) steps
     WHERE j.id = $1 AND j.state ${untrained}
       AND ($3::float8 > 0 OR $2 AND steps.tokens > 0)
     ON CONFLICT (entity, hour, project, model_id, base_model, key_id) DO UPDATE SET
       trained_tokens = known.trained_tokens + excluded.trained_tokens,
       training_seconds = known.training_seconds + excluded.training_seconds,
       gpu_seconds = known.gpu_seconds + excluded.gpu_seconds`,
    [jobId, endsJob, seconds, share],
  )
}

interface Span {
  seconds: number
  /** The attempt's share of its trainer's time. Each moment is divided by the number of attempts on the trainer. */
  share: number
}

/** Ends the span of a job's attempt, if it has a trainer. */
async function endSpan(connection: Connection, jobId: string): Promise<Span> {
  const { rows } = await connection.query<Span>(
    // The spans are cut where an attempt begins or ends. The same attempts share each piece.
    `WITH own AS (
       SELECT id, holder_pod, claimed_at AS since,
         greatest(claimed_at, least(clock_timestamp(), lease_expires_at)) AS till
       FROM training.jobs WHERE id = $1 AND state ${held} AND claimed_at IS NOT NULL
     ), ended AS (
       UPDATE training.job_attempts a SET ended_at = own.till
       FROM own JOIN training.jobs j ON j.id = own.id WHERE a.job_id = j.id AND a.attempt = j.attempt
     ), spans AS (
       SELECT since, till FROM own
       UNION ALL
       SELECT greatest(a.claimed_at, own.since), least(a.ended_at, own.till)
       FROM own JOIN training.job_attempts a ON a.pod = own.holder_pod AND a.job_id <> own.id
       WHERE a.ended_at > own.since AND a.claimed_at < own.till
     ), cuts AS (
       SELECT since AS at FROM spans UNION SELECT till FROM spans
     ), pieces AS (
       SELECT at, lead(at) OVER (ORDER BY at) AS next FROM cuts
     )
     SELECT coalesce(extract(epoch FROM max(till) - min(since))::float8, 0) AS seconds,
       (SELECT coalesce(sum(extract(epoch FROM p.next - p.at) /
          (SELECT count(*) FROM spans s WHERE s.since <= p.at AND s.till >= p.next)), 0)::float8
        FROM pieces p WHERE p.next IS NOT NULL) AS share
     FROM own`,
    [jobId],
  )
  return rows[0]!
}
