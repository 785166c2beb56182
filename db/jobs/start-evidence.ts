// What an estimate of the start of a waiting job is computed from. It is read for one job at a time.

import type { Pool } from '../pool.ts'
import type { QueueDeps } from './queue-blocks.ts'
import { unblockedFirst, fairOrder } from './fair-order.ts'
import { active, held, unfinished } from './states.ts'

/** How long a job took that succeeded in its first attempt, in seconds. */
export interface PastJob {
  /** From its turn in its model until its trainer claimed it. */
  start: number
  /** From its claim until its trainer was free again. */
  training: number
  /** From its claim until its end. */
  total: number
}

/** What is known about the jobs before a waiting job, all times in seconds. */
export interface StartEvidence {
  /** The newest jobs of its model and its mode. */
  ofModel: PastJob[]
  /** The newest jobs of all models of its base model, of its mode. */
  ofBaseModel: PastJob[]
  /** For how long warm trainers of its base model have had the jobs that they have. */
  running: number[]
  /** For how long the active job of its model has been claimed; null if there is none. */
  activeSeconds: number | null
  /** For how long the first unfinished job of its model has been the first. */
  firstSeconds: number
}

/** How many past jobs count: few, so that a change of the jobs soon shows. */
const maxPast = 20
// How many rows are read for them.
const maxOfModel = 100
const maxOfInstallation = 1_000

const secondsSince = (time: string) => `extract(epoch FROM clock_timestamp() - ${time})::float8`
const seconds = (since: string, till: string) => `extract(epoch FROM ${till} - ${since})::float8`

/** SQL: when a queued job became the first of its model. */
const turnOf = (job: string) => `greatest(${job}.queued_at, (
    SELECT p.finished_at FROM training.jobs p WHERE p.model_id = ${job}.model_id AND p.arrival < ${job}.arrival
    ORDER BY p.arrival DESC LIMIT 1))`

/** SQL: the newest of the rows of a table of past jobs as a list. */
const past = (table: string) => `(SELECT coalesce(jsonb_agg(jsonb_build_object(
      'start', greatest(${seconds(turnOf('r'), 'r.claimed_at')}, 0),
      'training', ${seconds('r.claimed_at', 'coalesce(r.trained_at, r.finished_at)')},
      'total', ${seconds('r.claimed_at', 'r.finished_at')})), '[]')
    FROM (SELECT * FROM ${table} ORDER BY finished_at DESC LIMIT ${maxPast}) r)`

/** Reads what the start of a waiting job is estimated from. */
export async function readStartEvidence(pool: Pool, jobId: string): Promise<StartEvidence> {
  const { rows } = await pool.query<StartEvidence>(
    `WITH own AS (
       SELECT j.id, j.model_id, j.mode, m.base_model FROM training.jobs j JOIN training.models m ON m.id = j.model_id
       WHERE j.id = $1
     ), first AS (
       SELECT e.* FROM training.jobs e, own WHERE e.model_id = own.model_id AND e.state ${unfinished}
       ORDER BY e.arrival LIMIT 1
     ), of_model AS (
       SELECT e.* FROM first, LATERAL (
         SELECT * FROM training.jobs p WHERE p.model_id = first.model_id AND p.arrival < first.arrival
         ORDER BY p.arrival DESC LIMIT ${maxOfModel}
       ) e, own WHERE e.state = 'Succeeded' AND e.attempt = 1 AND e.mode = own.mode
     ), of_base_model AS (
       SELECT e.* FROM (
         SELECT * FROM training.jobs WHERE state = 'Succeeded' ORDER BY finished_at DESC LIMIT ${maxOfInstallation}
       ) e JOIN training.models n ON n.id = e.model_id, own
       WHERE n.base_model = own.base_model AND e.attempt = 1 AND e.mode = own.mode
     )
     SELECT ${past('of_model')} AS "ofModel", ${past('of_base_model')} AS "ofBaseModel",
       ARRAY(SELECT ${secondsSince('e.claimed_at')} FROM training.jobs e JOIN training.models n ON n.id = e.model_id, own
             WHERE e.state ${held} AND e.mode = 'Warm' AND n.base_model = own.base_model) AS running,
       (SELECT ${secondsSince('e.claimed_at')} FROM training.jobs e, own
        WHERE e.model_id = own.model_id AND e.state ${active}) AS "activeSeconds",
       (SELECT ${secondsSince(turnOf('first'))} FROM first) AS "firstSeconds"
     FROM own`,
    [jobId],
  )
  return rows[0]!
}

const ofBaseModel = `n.base_model = (
    SELECT m.base_model FROM training.jobs j JOIN training.models m ON m.id = j.model_id WHERE j.id = $1)`

/** The jobs that wait for a warm trainer of the base model of a job. */
export interface TrainerLine {
  length: number
  /** The position of the first unfinished job of its model; null if it does not wait for a trainer. */
  ofModel: number | null
}

/** Reads how many jobs wait for a warm trainer of the base model of a job that waits for its model. */
export async function readTrainerLine({ pool, defaultGpuSeconds }: QueueDeps, jobId: string): Promise<TrainerLine> {
  const { rows } = await pool.query<TrainerLine>(
    `WITH ${fairOrder(ofBaseModel, defaultGpuSeconds)},
       positions AS (
         SELECT id, row_number() OVER (ORDER BY ${unblockedFirst})::integer AS position FROM ordered
         WHERE mode = 'Warm' AND block IS NULL
       )
     SELECT (SELECT count(*)::integer FROM positions) AS length,
       (SELECT position FROM positions JOIN training.jobs f USING (id)
        WHERE f.model_id = (SELECT model_id FROM training.jobs WHERE id = $1)) AS "ofModel"`,
    [jobId],
  )
  return rows[0]!
}
