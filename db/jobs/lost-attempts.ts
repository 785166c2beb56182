// Attempts whose lease has expired. Until the operator knows what became of the pod, they do not count as tries.

import { withTransaction, type Connection, type Pool } from '../pool.ts'
import type { JobFailure } from './attempts.ts'
import { endFailed } from './endings.ts'
import { unfinished } from './states.ts'

/** A pod that has lost attempts, and for how long. */
export interface LostPod {
  uid: string
  lostSeconds: number
}

/** Why a trainer was lost, and whether that counts as a try of its job. */
export interface Verdict {
  counts: boolean
  reason: string
  message: string
}

/** SQL: the job's last try was lost, and it is not known yet whether it counts. */
export const awaitsVerdict = (job: string): string =>
  `EXISTS (SELECT FROM training.job_attempts lost WHERE lost.job_id = ${job}.id AND lost.attempt = ${job}.attempt
     AND lost.lost_at IS NOT NULL AND ${job}.attempt - ${job}.releases >= ${job}.max_attempts)`

/** Marks the newest attempt of a job as lost. The caller has locked the row. Returns the attempt. */
export async function markLost(connection: Connection, jobId: string): Promise<number> {
  const { rows } = await connection.query<{ attempt: number }>(
    `UPDATE training.job_attempts a SET lost_at = clock_timestamp() FROM training.jobs j
     WHERE j.id = $1 AND a.job_id = j.id AND a.attempt = j.attempt RETURNING a.attempt`,
    [jobId],
  )
  return rows[0]?.attempt ?? 0
}

/** Lists the pods of attempts without a verdict. */
export async function listLostPods(pool: Pool): Promise<LostPod[]> {
  const { rows } = await pool.query<LostPod>(
    `SELECT pod AS uid, extract(epoch FROM clock_timestamp() - max(lost_at))::float8 AS "lostSeconds"
     FROM training.job_attempts WHERE lost_at IS NOT NULL GROUP BY pod`,
  )
  return rows
}

/** Decides whether the lost attempts of a pod count. A job without another try fails. */
export async function decideLostAttempts(pool: Pool, podUid: string, verdict: Verdict): Promise<void> {
  await withTransaction(pool, async (connection) => {
    const jobs = await lockJobsOf(connection, podUid)
    await connection.query('UPDATE training.job_attempts SET lost_at = NULL WHERE pod = $1 AND lost_at IS NOT NULL', [
      podUid,
    ])
    for (const job of jobs) await applyVerdict(connection, job, verdict)
  })
}

/**
 * Records that a pod of a job failed before it had claimed the job. That is an attempt too: otherwise a trainer that
 * cannot start would be started for ever. Repeating it for one pod changes nothing.
 */
export async function recordFailedStart(
  pool: Pool,
  { jobId, podUid }: { jobId: string; podUid: string },
  verdict: Verdict,
): Promise<void> {
  await withTransaction(pool, async (connection) => {
    const { rows } = await connection.query<{ attempt: number; tries: number; maxAttempts: number }>(
      `SELECT attempt + 1 AS attempt, attempt + 1 - releases AS tries, max_attempts AS "maxAttempts" FROM training.jobs
       WHERE id = $1 AND state = 'Queued' AND NOT EXISTS (SELECT FROM training.job_attempts WHERE pod = $2) FOR UPDATE`,
      [jobId, podUid],
    )
    const [job] = rows
    if (!job) return
    await connection.query(
      `INSERT INTO training.job_attempts (job_id, attempt, pod, ended_at) VALUES ($1, $2, $3, clock_timestamp())`,
      [jobId, job.attempt, podUid],
    )
    await connection.query('UPDATE training.jobs SET attempt = $2 WHERE id = $1', [jobId, job.attempt])
    await applyVerdict(connection, { ...job, id: jobId, isWaiting: true }, verdict)
  })
}

/** The uids of the pods of a job's attempts. */
export async function listAttemptPods(pool: Pool, jobId: string): Promise<Set<string>> {
  const { rows } = await pool.query<{ pod: string }>('SELECT pod FROM training.job_attempts WHERE job_id = $1', [jobId])
  return new Set(rows.map(({ pod }) => pod))
}

interface LostJob {
  id: string
  /** No later attempt has begun. */
  isWaiting: boolean
  tries: number
  maxAttempts: number
}

async function lockJobsOf(connection: Connection, podUid: string): Promise<LostJob[]> {
  const { rows } = await connection.query<LostJob>(
    `SELECT j.id, j.state = 'Queued' AND j.attempt = a.attempt AS "isWaiting", j.attempt - j.releases AS tries,
       j.max_attempts AS "maxAttempts"
     FROM training.job_attempts a JOIN training.jobs j ON j.id = a.job_id
     WHERE a.pod = $1 AND a.lost_at IS NOT NULL AND j.state ${unfinished} ORDER BY j.id FOR UPDATE OF j`,
    [podUid],
  )
  return rows
}

async function applyVerdict(connection: Connection, job: LostJob, verdict: Verdict): Promise<void> {
  const { counts, reason, message } = verdict
  if (!counts) await connection.query('UPDATE training.jobs SET releases = releases + 1 WHERE id = $1', [job.id])
  if (!job.isWaiting) return
  const failure: JobFailure = { category: 'Internal', reason, message, retryable: true }
  if (counts && job.tries >= job.maxAttempts) return endFailed(connection, job.id, failure, job.tries)
  await connection.query('UPDATE training.jobs SET failure = $2 WHERE id = $1', [job.id, failure])
}
