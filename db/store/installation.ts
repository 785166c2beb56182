import type { Connection, Pool } from '../pool.ts'
import type { KeyHolds } from './held-keys.ts'

/** The identity of this installation, because the artifact store may have another owner. */
export interface Installation {
  id: string
  /** An admin has claimed the store, whatever mark it has. */
  claimWanted: boolean
  /** Why nothing is removed from the store. */
  trouble: string | null
  /** Nothing is removed from the store while a backup is being made. */
  isPaused: boolean
}

// A backup that was killed lets removals go on after this time.
const pauseFor = "interval '10 minutes'"

export async function readInstallation(connection: Connection): Promise<Installation> {
  const { rows } = await connection.query<Installation>(
    `SELECT id, claim_wanted AS "claimWanted", trouble,
       coalesce(removal_paused_until > clock_timestamp(), false) AS "isPaused" FROM training.installation`,
  )
  return rows[0]!
}

/** Lets nothing be removed from the store for ten minutes. A backup calls it again in time. */
export async function pauseRemoval(pool: Pool): Promise<void> {
  await pool.query(`UPDATE training.installation SET removal_paused_until = clock_timestamp() + ${pauseFor}`)
}

export async function resumeRemoval(pool: Pool): Promise<void> {
  await pool.query('UPDATE training.installation SET removal_paused_until = NULL')
}

/** Asks the operator to claim the artifact store for this installation. */
export async function wantClaim(pool: Pool): Promise<void> {
  await pool.query('UPDATE training.installation SET claim_wanted = true')
}

export async function markClaimed(pool: Pool): Promise<void> {
  await pool.query('UPDATE training.installation SET claim_wanted = false')
}

/** Records why nothing is removed from the store; null if nothing prevents it. */
export async function recordTrouble(pool: Pool, trouble: string | null): Promise<void> {
  await pool.query('UPDATE training.installation SET trouble = $1 WHERE trouble IS DISTINCT FROM $1', [trouble])
}

/** Whether this database knows that we have put this mark into the store. */
export async function isMarkKnown({ pool, schema }: KeyHolds, mark: string): Promise<boolean> {
  const { rowCount } = await pool.query(`SELECT FROM ${schema}.store_marks WHERE mark = $1`, [mark])
  return rowCount === 1
}

/** Records a mark before it is put into the store. */
export async function addMark({ pool, schema }: KeyHolds, mark: string): Promise<void> {
  await pool.query(`INSERT INTO ${schema}.store_marks (mark) VALUES ($1)`, [mark])
}

/** Deletes old marks that the store cannot have any more, because it has a newer one. */
export async function expireMarks({ pool, schema }: KeyHolds, current: string): Promise<void> {
  await pool.query(`DELETE FROM ${schema}.store_marks WHERE mark <> $1 AND made_at < now() - interval '1 day'`, [
    current,
  ])
}

/** When people or trainers made the newest row, in both databases; undefined if there is none. */
export async function findNewestRow(pool: Pool, tracing: Pool): Promise<Date | undefined> {
  const { rows } = await pool.query<{ newest: Date | null }>(
    `SELECT greatest(
       (SELECT max(created_at) FROM training.models), (SELECT max(created_at) FROM training.jobs),
       (SELECT max(created_at) FROM training.checkpoints), (SELECT max(created_at) FROM training.artifact_versions),
       (SELECT max(created_at) FROM training.blobs), (SELECT max(created_at) FROM training.logs),
       (SELECT max(hour) FROM training.usage), (SELECT max(created_at) FROM auth.api_keys)) AS newest`,
  )
  const { rows: traced } = await tracing.query<{ newest: string | Date | null }>(
    `SELECT greatest((SELECT max(created_at) FROM tracing.projects), (SELECT max(created_at) FROM tracing.files)) AS newest`,
  )
  const times = [rows[0]?.newest, traced[0]?.newest].filter((time) => time !== null && time !== undefined)
  return times.length > 0 ? new Date(Math.max(...times.map((time) => new Date(time).getTime()))) : undefined
}
