import type { Pool } from '../pool.ts'
import { runStreams, type RunStream } from './write-lines.ts'

/** A line of history with some of its values. */
export interface HistoryLine {
  line: number
  text: string
}

/** Lines of history whose step is in [minStep, maxStep). */
export interface StepRange {
  minStep: number
  maxStep: number
}

/** The last lines of a stream, in order. */
export async function readTail(pool: Pool, run: number, stream: RunStream, lines: number): Promise<HistoryLine[]> {
  const { rows } = await pool.query<HistoryLine>(
    `SELECT line, text FROM training.run_lines WHERE run = $1 AND stream = $2 ORDER BY line DESC LIMIT $3`,
    [run, runStreams[stream], lines],
  )
  return rows.toReversed()
}

/** The lines of a stream after the line `after`, in order. */
export async function readLines(
  pool: Pool,
  { run, stream, after, limit }: { run: number; stream: RunStream; after: number; limit: number },
): Promise<HistoryLine[]> {
  const { rows } = await pool.query<HistoryLine>(
    `SELECT line, text FROM training.run_lines WHERE run = $1 AND stream = $2 AND line > $3 ORDER BY line LIMIT $4`,
    [run, runStreams[stream], after, limit],
  )
  return rows
}

/** The bytes of at most `limit` lines of history in a range of steps. */
export async function measureSteps(
  pool: Pool,
  { run, minStep, maxStep, limit }: StepRange & { run: number; limit: number },
): Promise<number> {
  const { rows } = await pool.query<{ bytes: number }>(
    `SELECT coalesce(sum(octet_length(text)), 0)::bigint AS bytes FROM (
       SELECT text FROM training.run_lines
       WHERE run = $1 AND stream = 0 AND step >= $2 AND step < $3 ORDER BY step, line LIMIT $4) AS page`,
    [run, minStep, maxStep, limit],
  )
  return rows[0]!.bytes
}

/** Reads the lines of history in a range of steps, in order. */
export async function readSteps(
  pool: Pool,
  { run, minStep, maxStep, limit }: StepRange & { run: number; limit: number },
): Promise<string[]> {
  const { rows } = await pool.query<{ text: string }>(
    `SELECT text FROM training.run_lines
     WHERE run = $1 AND stream = 0 AND step >= $2 AND step < $3 ORDER BY step, line LIMIT $4`,
    [run, minStep, maxStep, limit],
  )
  return rows.map(({ text }) => text)
}

/** Chooses lines at equal distances: the first one, the last one, and those between. `n` counts them from 1. */
const isSampled = `(n = 1 OR n = total OR n * ($3::bigint - 1) / total <> (n - 1) * ($3::bigint - 1) / total)`

/** Samples whole lines of a stream, in order. */
export async function sampleLines(
  pool: Pool,
  { run, stream, samples }: { run: number; stream: RunStream; samples: number },
): Promise<HistoryLine[]> {
  const order = stream === 'history' ? 'step, line' : 'line'
  const { rows } = await pool.query<HistoryLine>(
    `WITH numbered AS (
       SELECT line, row_number() OVER (ORDER BY ${order}) AS n, count(*) OVER () AS total
       FROM training.run_lines WHERE run = $1 AND stream = ${runStreams[stream]})
     SELECT l.line, l.text FROM numbered c JOIN training.run_lines l ON l.run = $1 AND l.stream = $2 AND l.line = c.line
     WHERE ${isSampled} ORDER BY c.n LIMIT $3`,
    [run, runStreams[stream], samples],
  )
  return rows
}

/** The bytes of a stream's line on average, from its last lines. */
export async function estimateLineBytes(pool: Pool, run: number, stream: RunStream): Promise<number> {
  const { rows } = await pool.query<{ bytes: number }>(
    `SELECT coalesce(avg(octet_length(text)), 0)::float8 AS bytes FROM (
       SELECT text FROM training.run_lines WHERE run = $1 AND stream = $2 ORDER BY line DESC LIMIT 20) AS last`,
    [run, runStreams[stream]],
  )
  return rows[0]!.bytes
}

/** What to sample of a history: lines that have all of these keys. */
export interface HistorySample extends StepRange {
  run: number
  keys: string[]
  samples: number
}

/**
 * Samples lines of history that have all keys. Returns one list for each of them: the JSON texts of the values, in the
 * order of the keys. Lines are chosen in the index, and only the chosen ones are read.
 */
export async function sampleHistory(
  pool: Pool,
  { run, keys, samples, minStep, maxStep }: HistorySample,
): Promise<string[][]> {
  const values = keys.map((_, index) => {
    const key = `$${index + 6}`
    return `coalesce(l.text::json -> ${key}::text, l.text::json #> string_to_array(${key}::text, '.'))::text`
  })
  const { rows } = await pool.query<{ values: string[] }>(
    `WITH sets AS (SELECT number FROM training.run_key_sets WHERE run = $1 AND keys ?& $2),
     numbered AS (
       SELECT line, row_number() OVER (ORDER BY step, line) AS n, count(*) OVER () AS total
       FROM training.run_lines
       WHERE run = $1 AND stream = 0 AND step >= $4 AND step < $5
         AND (key_set = ANY (ARRAY(SELECT number FROM sets)) OR key_set IS NULL))
     SELECT ARRAY[${values.join(', ')}] AS values
     FROM numbered c JOIN training.run_lines l ON l.run = $1 AND l.stream = 0 AND l.line = c.line
     WHERE ${isSampled} ORDER BY c.n LIMIT $3`,
    [run, keys, samples, minStep, maxStep, ...keys],
  )
  return rows.map((row) => row.values).filter((found) => found.every((value) => value !== null))
}
