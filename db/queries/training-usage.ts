import type { Connection } from '../pool.ts'

// A trainer's report is not worth more than this in one step.
const mostTokensOfAStep = 1e12

/**
 * Charges an attempt that ends now, before its row changes; the caller has locked the row, and does the rest in the same
 * transaction, so each attempt is charged once. Of a job whose attempt was charged already, or that was never claimed,
 * there is no time to charge.
 *
 * The attempt took from its claim until now, or until its lease ran out. The tokens of all attempts are charged when the
 * job ends, because what an earlier attempt trained is part of what is listed.
 */
export async function chargeAttempt(connection: Connection, jobId: string, endsJob: boolean): Promise<void> {
  await connection.query(
    `INSERT INTO training.usage AS known
       (entity, hour, project, model_id, base_model, key_id, trained_tokens, training_seconds, gpu_seconds)
     SELECT m.entity, date_trunc('hour', clock_timestamp(), 'UTC'), m.project, m.id, m.base_model, j.key_id,
       CASE WHEN $2 THEN steps.tokens ELSE 0 END, attempt.seconds, attempt.seconds * j.gpus
     FROM training.jobs j JOIN training.models m ON m.id = j.model_id,
       LATERAL (
         SELECT CASE WHEN j.state IN ('Starting', 'Running') AND j.claimed_at IS NOT NULL
           THEN greatest(0, extract(epoch FROM least(clock_timestamp(), j.lease_expires_at) - j.claimed_at)::float8)
           ELSE 0 END AS seconds
       ) attempt,
       LATERAL (
         SELECT coalesce(sum(least(greatest((e.data->>'num_trainable_tokens')::float8, 0), ${mostTokensOfAStep})), 0)
           ::bigint AS tokens
         FROM training.events e
         WHERE e.job_id = j.id AND e.type = 'gradient_step'
           AND jsonb_typeof(e.data->'num_trainable_tokens') = 'number'
       ) steps
     WHERE j.id = $1 AND j.state NOT IN ('Publishing', 'Succeeded', 'Failed', 'Cancelled')
       AND (attempt.seconds > 0 OR $2 AND steps.tokens > 0)
     ON CONFLICT (entity, hour, project, model_id, base_model, key_id) DO UPDATE SET
       trained_tokens = known.trained_tokens + excluded.trained_tokens,
       training_seconds = known.training_seconds + excluded.training_seconds,
       gpu_seconds = known.gpu_seconds + excluded.gpu_seconds`,
    [jobId, endsJob],
  )
}
