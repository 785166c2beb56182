import type { Pool } from '../../db/pool.ts'
import { queueJob } from '../../db/jobs/enqueue.ts'

/** Rows of a database that has been in use for some time. */
export interface ApiData {
  modelIds: string[]
  /** some of all jobs, each with its events in order */
  jobs: { id: string; eventIds: string[] }[]
}

// The sizes of one model and one job are the same in every database, so that pages are alike.
const jobsPerModel = 100
const eventsPerJob = 100
const sampledJobs = 200
// Each sampled job has a full page of other jobs before and after it.
const pageSize = 20
const blockOfEvents = 10

/** The base model of all models. */
export const baseModel = 'bench/base'

/** Makes the base model known, so that clients can create models from it. */
export async function addBaseModel(pool: Pool, namespace: string): Promise<void> {
  await pool.query(
    `INSERT INTO training.base_models (name, names, namespace, cr_name) VALUES ($1, ARRAY[$1], $2, 'base')`,
    [baseModel, namespace],
  )
}

/** Fills a database with models whose jobs have succeeded, with 100 events each. Updates the planner's statistics. */
export async function fillDatabase(pool: Pool, entity: string, events: number): Promise<ApiData> {
  const models = events / eventsPerJob / jobsPerModel
  await pool.query(
    `INSERT INTO training.models (entity, project, name, base_model, namespace, cr_name, resource_created_at, last_step)
     SELECT $1, 'bench', 'model-' || n, 'bench/base', 'elsewhere', 'model-' || n, now(), $3 FROM generate_series(1, $2) n`,
    [entity, models, jobsPerModel],
  )
  await pool.query(
    `INSERT INTO training.jobs (model_id, method, input_uri, input_digest, config, state, attempt, step, progress_step,
       progress_total, spec_digest, namespace, cr_name, resource_created_at, queued_at, claimed_at, started_at, trained_at,
       finished_at)
     SELECT m.id, 'RL', 'artifact:///payloads/x/y.json', '00', '{"learning_rate": 0.001}', 'Succeeded', 1, n, 98, 98, '00',
       'elsewhere', m.name || n, now(), now(), now(), now(), now(), now()
     FROM generate_series(1, $1::integer) n, training.models m ORDER BY n`,
    [jobsPerModel],
  )
  await pool.query(
    `INSERT INTO training.checkpoints (id, model_id, job_id, step, uri, digest, metrics)
     SELECT gen_random_uuid(), model_id, id, step, 'artifact:///checkpoints/x', '00', '{"reward": 0.5, "loss": 0.1}'
     FROM training.jobs`,
  )
  for (let seq = 0; seq < eventsPerJob; seq += blockOfEvents) await addEvents(pool, seq)
  await pool.query('VACUUM ANALYZE')
  return sample(pool)
}

/** Adds a block of events to every job. A million at once would exceed the query timeout. */
async function addEvents(pool: Pool, fromSeq: number): Promise<void> {
  await pool.query(
    `INSERT INTO training.events (job_id, seq, type, data)
     SELECT j.id, n, CASE n WHEN 0 THEN 'training_started' WHEN $3 - 1 THEN 'training_ended' ELSE 'gradient_step' END,
       jsonb_build_object('num_sequences', 98, 'loss', random(), 'grad_norm', random(), 'entropy', random())
     FROM training.jobs j, generate_series($1::integer, $1 + $2::integer - 1) n`,
    [fromSeq, blockOfEvents, eventsPerJob],
  )
}

async function sample(pool: Pool): Promise<ApiData> {
  const models = await pool.query<{ id: string }>('SELECT id FROM training.models ORDER BY random() LIMIT 100')
  const jobs = await pool.query<ApiData['jobs'][number]>(
    `SELECT j.id, array_agg(e.id ORDER BY e.seq) AS "eventIds"
     FROM (SELECT id FROM training.jobs, (SELECT max(arrival) AS newest FROM training.jobs) last
       WHERE arrival BETWEEN $2 + 1 AND last.newest - $2 ORDER BY random() LIMIT $1) j
     JOIN training.events e ON e.job_id = j.id GROUP BY j.id`,
    [sampledJobs, pageSize],
  )
  return { modelIds: models.rows.map(({ id }) => id), jobs: jobs.rows }
}

/** Adds jobs that wait for a trainer which never comes. Each job has its own model. */
export async function addWaitingJobs(pool: Pool, entity: string, count: number): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `WITH models AS (
       INSERT INTO training.models (entity, project, name, base_model, namespace, cr_name, resource_created_at)
       SELECT $1, 'bench', 'waiting-' || n, 'bench/base', 'elsewhere', 'waiting-' || n, now()
       FROM generate_series(1, $2::integer) n RETURNING id, name)
     SELECT id, name FROM models`,
    [entity, count],
  )
  const jobs = await pool.query<{ id: string }>(
    `INSERT INTO training.jobs (model_id, method, input_uri, input_digest, config, spec_digest, namespace, cr_name, resource_created_at)
     SELECT id, 'RL', 'artifact:///payloads/x/y.json', '00', '{}', '00', 'elsewhere', id::text, now()
     FROM training.models WHERE id = ANY ($1) RETURNING id`,
    [rows.map(({ id }) => id)],
  )
  for (const { id } of jobs.rows) await queueJob(pool, id)
  return jobs.rows.map(({ id }) => id)
}
