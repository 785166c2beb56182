import type { Pool } from '../../../../db/pool.ts'
import { baseModel } from '../../api-data.ts'

/** The metrics of a run's gradient steps. A run has a chart for each. */
export const chartedKeys = [
  'reward',
  'loss',
  'entropy',
  'kl_div',
  'grad_norm',
  'clip_fraction',
  'num_trainable_tokens',
  'tokens_per_second',
] as const

const jobs = 100
const stepsPerJob = 10_000

/** The only values of a metric that are far from all others: one gradient step each. */
export function spikesOf(key: (typeof chartedKeys)[number]): { high: number; low: number } {
  const at = chartedKeys.indexOf(key)
  return { high: 50 + at, low: -40 - at }
}

/** Writes a run with a million gradient steps, as a trainer's reports would leave it. */
export async function fillRun(
  pool: Pool,
  { entity, project, name }: { entity: string; project: string; name: string },
) {
  const { rows } = await pool.query<{ id: string }>(
    `INSERT INTO training.models (entity, project, name, base_model, namespace, cr_name, resource_created_at, last_step)
     VALUES ($1, $2, $3, $4, 'elsewhere', $3, now(), $5) RETURNING id`,
    [entity, project, name, baseModel, jobs],
  )
  const modelId = rows[0]!.id
  for (let job = 0; job < jobs; job++) await addJob(pool, modelId, job)
  await pool.query('INSERT INTO training.metric_heads (model_id, count) VALUES ($1, $2)', [modelId, jobs * stepsPerJob])
  await pool.query('VACUUM ANALYZE training.events, training.metric_buckets, training.jobs')
}

async function addJob(pool: Pool, modelId: string, job: number): Promise<void> {
  const { rows } = await pool.query<{ id: string }>(
    `INSERT INTO training.jobs (model_id, method, input_uri, input_digest, config, state, attempt, step, progress_step,
       progress_total, spec_digest, namespace, cr_name, resource_created_at, queued_at, claimed_at, started_at, trained_at,
       finished_at)
     VALUES ($1, 'RL', 'artifact:///payloads/x/y.json', '00', '{}', 'Succeeded', 1, $2, $3, $3, '00', 'elsewhere',
       'job-' || $2::integer, now(), now(), now(), now(), now(), now()) RETURNING id`,
    [modelId, job + 1, stepsPerJob],
  )
  const from = job * stepsPerJob
  await pool.query(
    `INSERT INTO training.events (job_id, seq, type, data, model_id, model_step, model_index)
     SELECT $1, n - $3::integer + 1, 'gradient_step', jsonb_build_object(${chartedKeys.flatMap(writeMember).join()}), $2, $4, n
     FROM generate_series($3::integer, $3::integer + $5::integer - 1) n`,
    [rows[0]!.id, modelId, from, job + 1, stepsPerJob],
  )
  await pool.query('SELECT training.fill_metric_buckets($1, $2, $3)', [modelId, from, from + stepsPerJob])
}

/** Between -2 and 2, except for two gradient steps. */
function writeMember(key: (typeof chartedKeys)[number], at: number): string[] {
  const { high, low } = spikesOf(key)
  const [highAt, lowAt] = [123_457 + at * 77_777, 98_765 + at * 55_555]
  const value = `sin(n / 40000.0 + ${at}) + random() - 0.5`
  return [`'${key}'`, `CASE n WHEN ${highAt} THEN ${high} WHEN ${lowAt} THEN ${low} ELSE ${value} END`]
}
