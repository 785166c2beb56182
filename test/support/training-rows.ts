import { randomUUID } from 'node:crypto'
import type { Connection, Pool } from '../../db/pool.ts'
import type { Attempt } from '../../db/jobs/attempts.ts'
import { claimJob, type Claim, type Claimant } from '../../db/jobs/claims.ts'
import { recordCheckpoint, recordEvents } from '../../db/jobs/reports.ts'
import { releaseExpiredLeases, type ReleasedJob } from '../../db/jobs/requeue.ts'
import { insertTrajectories } from '../../db/trajectories/trajectories.ts'

export const started = { seq: 0, type: 'training_started', data: { num_sequences: 2 } }
export const step = (seq: number) => ({ seq, type: 'gradient_step', data: { loss: 1 / seq } })

/** The checkpoint that a claim requires. */
export function checkpointOf(claim: Claim) {
  return { uri: `artifact:///checkpoints/${claim.checkpointId}`, digest: 'ab', metrics: { reward: 0.5 } }
}

/** The columns of a job that tests read. */
export interface JobRow {
  state: string
  attempt: number
  progress_step: number
  progress_total: number | null
  failure: { category: string; reason: string; message: string } | null
  finished_at: Date | null
}

/** An index row of a trajectory, without its position. */
const trajectoryRow = {
  group_exceptions: 0,
  scenario_id: null,
  prompt_hash: 'ab'.repeat(32),
  reward: 0,
  advantage: 0,
  metrics: {},
  tokens: 3,
  flags: [],
  payload_offset: 0,
  payload_length: 2,
}

/** Rows of models and jobs as apiserver and operator write them, on the test's own base model. */
export class TrainingRows {
  readonly pool: Pool
  readonly baseModel: string

  readonly entity: string

  constructor(pool: Pool, entity = 'team', baseModel = `test/${randomUUID()}`) {
    this.pool = pool
    this.entity = entity
    this.baseModel = baseModel
  }

  async addModel(project = 'project'): Promise<string> {
    const { rows } = await this.pool.query<{ id: string }>(
      `INSERT INTO training.models (entity, project, name, base_model, namespace, cr_name)
       VALUES ($3, $4, $1, $2, 'trainyard', $1) RETURNING id`,
      [randomUUID(), this.baseModel, this.entity, project],
    )
    return rows[0]!.id
  }

  /** Adds a job, by default Queued. `connection` may have an open transaction. */
  async addJob(
    modelId: string,
    job: { method?: 'RL' | 'SFT'; state?: string; maxAttempts?: number; config?: object; priority?: number } = {},
    connection: Connection = this.pool,
  ): Promise<string> {
    const { rows } = await connection.query<{ id: string }>(
      `INSERT INTO training.jobs (model_id, method, input_uri, input_digest, config, state, max_attempts, spec_digest,
         namespace, cr_name, priority)
       VALUES ($1, $7, 'artifact:///payloads/team/0a.json', '0a', $5, $2, $3, '0b',
         'trainyard', $4, $6) RETURNING id`,
      [
        modelId,
        job.state ?? 'Queued',
        job.maxAttempts ?? 6,
        randomUUID(),
        job.config ?? { learning_rate: 0.001 },
        job.priority ?? 0,
        job.method ?? 'RL',
      ],
    )
    return rows[0]!.id
  }

  /** Adds the index rows of a job with this many trajectories in each group. */
  async addTrajectories(modelId: string, jobId: string, groups: number[]): Promise<void> {
    const index = groups.flatMap((count, group) =>
      Array.from({ length: count }, (_, trajectory) => ({
        ...trajectoryRow,
        group_index: group,
        trajectory_index: trajectory,
      })),
    )
    const source = { modelId, jobId, split: 'train', payloadUri: 'artifact:///payloads/team/0a.json' }
    await insertTrajectories(this.pool, source, [JSON.stringify(index)])
  }

  async readJob(jobId: string): Promise<JobRow> {
    const { rows } = await this.pool.query<JobRow>(
      `SELECT state, attempt, progress_step, progress_total, failure, finished_at FROM training.jobs WHERE id = $1`,
      [jobId],
    )
    return rows[0]!
  }

  /** A job's events in the order of lists, as `seq type`. */
  async listEvents(jobId: string): Promise<string[]> {
    const { rows } = await this.pool.query<{ event: string }>(
      `SELECT seq || ' ' || type AS event FROM training.events WHERE job_id = $1 ORDER BY position`,
      [jobId],
    )
    return rows.map((row) => row.event)
  }

  async readErrorMessage(jobId: string): Promise<string | undefined> {
    const { rows } = await this.pool.query<{ message: string }>(
      `SELECT data->>'error_message' AS message FROM training.events WHERE job_id = $1 AND type = 'training_failed'`,
      [jobId],
    )
    return rows[0]?.message
  }

  /** Ends the lease of the job's trainer. */
  async expireLease(jobId: string): Promise<void> {
    await this.pool.query(`UPDATE training.jobs SET lease_expires_at = now() - interval '1 s' WHERE id = $1`, [jobId])
  }

  /** Says that status servers have taken reports for an hour. */
  async serveReports(): Promise<void> {
    await this.pool.query(
      `INSERT INTO training.report_service VALUES (1, now() - interval '1 hour', clock_timestamp())
       ON CONFLICT (id) DO UPDATE SET up_since = excluded.up_since, seen_at = excluded.seen_at`,
    )
  }

  /** Releases all jobs whose lease has expired. Returns its own: on a slow machine, leases of earlier tests expire too. */
  async releaseExpiredLeases(): Promise<ReleasedJob[]> {
    await this.serveReports()
    const released = await releaseExpiredLeases(this.pool)
    const { rows } = await this.pool.query<{ id: string }>(
      `SELECT job.id FROM training.jobs job JOIN training.models model ON model.id = job.model_id
       WHERE model.base_model = $1 AND job.id = ANY($2)`,
      [this.baseModel, released.map(({ id }) => id)],
    )
    return released.filter(({ id }) => rows.some((own) => own.id === id))
  }

  /**
   * A trainer process in a pod: in a new pod, or another process of the same pod. With `holding`, it holds other jobs.
   */
  trainer(podUid: string = randomUUID(), holding: string[] = []): Claimant {
    return { baseModel: this.baseModel, podUid, processId: randomUUID(), gpus: 0, holding }
  }

  /** Claims with a new trainer. Throws when there is nothing to claim. */
  async claim(trainer: Claimant = this.trainer()): Promise<{ claim: Claim; attempt: Attempt }> {
    const claim = await claimJob(this.pool, trainer)
    if (!claim) throw new Error('nothing to claim')
    return { claim, attempt: { jobId: claim.id, attempt: claim.attempt, podUid: trainer.podUid } }
  }

  /** Claims a job with a new trainer, which reports two steps and a checkpoint. The job is then in Publishing. */
  async train(jobId: string): Promise<{ claim: Claim; attempt: Attempt }> {
    const { claim, attempt } = await this.claim()
    if (claim.id !== jobId) throw new Error('another job was claimed')
    const outcomes = [
      await recordEvents(this.pool, attempt, [started, step(1), step(2)]),
      await recordCheckpoint(this.pool, attempt, checkpointOf(claim)),
    ]
    if (outcomes.includes('fenced')) throw new Error('a report was fenced')
    return { claim, attempt }
  }
}
