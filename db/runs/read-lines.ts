import type { Pool } from '../pool.ts'
import { readMeasured } from './read-measured.ts'
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

const lineBytes = 'octet_length(text)'

/** The last lines of a stream, in order. */
export async function readTail(
  pool: Pool,
  { run, stream, lines }: { run: number; stream: RunStream; lines: number },
): Promise<HistoryLine[]> {
  const order = stream === 'history' ? 'step DESC, line DESC' : 'line DESC'
  const sql = `SELECT line, text FROM training.run_lines WHERE run = $1 AND stream = $2 ORDER BY ${order} LIMIT $3`
  const rows = await readMeasured<HistoryLine>(pool, {
    sql,
    values: [run, runStreams[stream], lines],
    bytes: lineBytes,
  })
  return rows.toReversed()
}

/** The lines of a stream after the line `after`, in order. */
export async function readLines(
  pool: Pool,
  { run, stream, after, limit }: { run: number; stream: RunStream; after: number; limit: number },
): Promise<HistoryLine[]> {
  const sql = `SELECT line, text FROM training.run_lines
    WHERE run = $1 AND stream = $2 AND line > $3 ORDER BY line LIMIT $4`
  return readMeasured(pool, { sql, values: [run, runStreams[stream], after, limit], bytes: lineBytes })
}

/** Reads at most `limit` lines of history in a range of steps, in order. */
export async function readSteps(
  pool: Pool,
  { run, minStep, maxStep, limit }: StepRange & { run: number; limit: number },
): Promise<string[]> {
  const sql = `SELECT text FROM training.run_lines
    WHERE run = $1 AND stream = 0 AND step >= $2 AND step < $3 ORDER BY step, line LIMIT $4`
  const values = [run, minStep, maxStep, limit]
  const rows = await readMeasured<{ text: string }>(pool, { sql, values, bytes: lineBytes })
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
  const sql = `WITH numbered AS (
      SELECT line, row_number() OVER (ORDER BY ${order}) AS n, count(*) OVER () AS total
      FROM training.run_lines WHERE run = $1 AND stream = ${runStreams[stream]})
    SELECT l.line, l.text FROM numbered c JOIN training.run_lines l ON l.run = $1 AND l.stream = $2 AND l.line = c.line
    WHERE ${isSampled} ORDER BY c.n LIMIT $3`
  return readMeasured(pool, { sql, values: [run, runStreams[stream], samples], bytes: lineBytes })
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
  const sql = `WITH sets AS (SELECT number FROM training.run_key_sets WHERE run = $1 AND keys ?& $2),
    numbered AS (
      SELECT line, row_number() OVER (ORDER BY step, line) AS n, count(*) OVER () AS total
      FROM training.run_lines
      WHERE run = $1 AND stream = 0 AND step >= $4 AND step < $5
        AND (key_set = ANY (ARRAY(SELECT number FROM sets)) OR key_set IS NULL))
    SELECT ARRAY[${values.join(', ')}] AS values
    FROM numbered c JOIN training.run_lines l ON l.run = $1 AND l.stream = 0 AND l.line = c.line
    WHERE ${isSampled} ORDER BY c.n LIMIT $3`
  const select = { sql, values: [run, keys, samples, minStep, maxStep, ...keys], bytes: 'pg_column_size(values)' }
  const rows = await readMeasured<{ values: string[] }>(pool, select)
  return rows.map((row) => row.values).filter((found) => found.every((value) => value !== null))
}
