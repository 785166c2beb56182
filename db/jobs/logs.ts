import { withTransaction, type Connection, type Pool } from '../pool.ts'
import type { Attempt, ReportOutcome } from './attempts.ts'

/** A line with the number that its trainer gave it, without secrets. `time` is in ISO 8601. */
export interface ReportedLine {
  seq: number
  time: string
  level: 'info' | 'warn' | 'error'
  text: string
}

/** A stored line. */
export interface LogLine {
  attempt: number
  seq: number
  at: Date
  level: 'info' | 'warn' | 'error'
  text: string
}

/** The position of a line in its job's log. */
export type LinePosition = Pick<LogLine, 'attempt' | 'seq'>

/** The limits of one attempt's log. */
const maxLines = 1_000
const maxBytes = 256 * 1024
/** The highest number of a trainer's line. Our own lines about an attempt have higher numbers. */
export const maxSeq = 1_999_999_999
const leftOutSeq = 2_000_000_000
const lostSeq = 2_000_000_001

interface KeptLog {
  seq: number
  lines: number
  bytes: number
}

/**
 * Adds the lines that an attempt's log does not have yet, until the log is full. Then a last line says so. Only a pod
 * that never held the attempt is fenced: the last lines may arrive when another attempt holds the job.
 */
export async function recordLog(pool: Pool, attempt: Attempt, lines: ReportedLine[]): Promise<ReportOutcome> {
  return withTransaction(pool, async (connection) => {
    const kept = await lockLog(connection, attempt)
    if (!kept) return 'fenced'
    const news = lines.filter(({ seq }) => seq > kept.seq)
    const fitting = takeFitting(news, kept)
    await insertLines(connection, attempt, fitting)
    const isFull = fitting.length < news.length
    if (isFull) await sayLeftOut(connection, attempt)
    await connection.query(
      `UPDATE training.job_attempts SET log_seq = $3, log_lines = $4, log_bytes = log_bytes + $5
       WHERE job_id = $1 AND attempt = $2`,
      [
        attempt.jobId,
        attempt.attempt,
        Math.max(kept.seq, ...news.map(({ seq }) => seq)),
        isFull ? maxLines : kept.lines + fitting.length,
        countBytes(fitting),
      ],
    )
    return 'recorded'
  })
}

/** Adds our line about a silent trainer to the log, in the transaction that releases the job. */
export async function logLostTrainer(
  connection: Connection,
  job: { id: string; attempt: number },
  text: string,
): Promise<void> {
  await addOwnLine(connection, { jobId: job.id, attempt: job.attempt }, { seq: lostSeq, level: 'error', text })
}

/** Adds our line about a trainer that was stopped and gave the job back. */
export async function logGivenBack(
  connection: Connection,
  job: { id: string; attempt: number },
  text: string,
): Promise<void> {
  await addOwnLine(connection, { jobId: job.id, attempt: job.attempt }, { seq: lostSeq, level: 'info', text })
}

/**
 * Lists lines of one attempt's log, or of all attempts, that follow `after` in the given order (ascending by default).
 * A page of `limit` lines may have a next page.
 */
export async function listJobLog(
  pool: Pool,
  jobId: string,
  page: {
    attempt?: number | undefined
    after?: LinePosition | undefined
    order?: 'asc' | 'desc'
    limit: number
  },
): Promise<LogLine[]> {
  const [comparison, direction] = page.order === 'desc' ? ['<', 'DESC'] : ['>', 'ASC']
  const { rows } = await pool.query<LogLine>(
    `SELECT attempt, seq, at, level, text FROM training.job_logs
     WHERE job_id = $1 AND ($2::integer IS NULL OR attempt = $2)
       AND ($3::integer IS NULL OR (attempt, seq) ${comparison} ($3, $4::integer))
     ORDER BY attempt ${direction}, seq ${direction} LIMIT $5`,
    [jobId, page.attempt ?? null, page.after?.attempt ?? null, page.after?.seq ?? null, page.limit],
  )
  return rows
}

/** Whether a job's log has this line. */
export async function hasLogLine(pool: Pool, jobId: string, { attempt, seq }: LinePosition): Promise<boolean> {
  const { rowCount } = await pool.query(
    'SELECT FROM training.job_logs WHERE job_id = $1 AND attempt = $2 AND seq = $3',
    [jobId, attempt, seq],
  )
  return rowCount === 1
}

async function lockLog(connection: Connection, attempt: Attempt): Promise<KeptLog | undefined> {
  // A line's foreign key also locks its job. The job is locked before the attempt, as in the transactions that end an
  // attempt.
  await connection.query('SELECT FROM training.jobs WHERE id = $1 FOR KEY SHARE', [attempt.jobId])
  const { rows } = await connection.query<KeptLog>(
    `SELECT log_seq AS seq, log_lines AS lines, log_bytes AS bytes FROM training.job_attempts
     WHERE job_id = $1 AND attempt = $2 AND pod = $3 FOR UPDATE`,
    [attempt.jobId, attempt.attempt, attempt.podUid],
  )
  return rows[0]
}

/** Stops at the first line that does not fit, so that a log has no holes. */
function takeFitting(lines: ReportedLine[], kept: KeptLog): ReportedLine[] {
  let { lines: count, bytes } = kept
  const end = lines.findIndex((line) => ++count > maxLines || (bytes += countBytes([line])) > maxBytes)
  return end === -1 ? lines : lines.slice(0, end)
}

function countBytes(lines: ReportedLine[]): number {
  return lines.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
}

async function insertLines(connection: Connection, attempt: Attempt, lines: ReportedLine[]): Promise<void> {
  await connection.query(
    `INSERT INTO training.job_logs (job_id, attempt, seq, at, level, text)
     SELECT $1, $2, seq, time, level, text
     FROM jsonb_to_recordset($3) AS reported (seq integer, time timestamptz, level text, text text)
     ON CONFLICT DO NOTHING`,
    [attempt.jobId, attempt.attempt, JSON.stringify(lines)],
  )
}

function sayLeftOut(connection: Connection, attempt: Attempt): Promise<void> {
  const text = `The rest of this attempt's log was dropped. At most ${maxLines} lines or ${maxBytes / 1024} KiB are kept`
  return addOwnLine(connection, attempt, { seq: leftOutSeq, level: 'warn', text })
}

async function addOwnLine(
  connection: Connection,
  { jobId, attempt }: { jobId: string; attempt: number },
  line: Pick<LogLine, 'seq' | 'level' | 'text'>,
): Promise<void> {
  await connection.query(
    `INSERT INTO training.job_logs (job_id, attempt, seq, at, level, text)
     VALUES ($1, $2, $3, clock_timestamp(), $4, $5) ON CONFLICT DO NOTHING`,
    [jobId, attempt, line.seq, line.level, line.text],
  )
}
