import type { Connection, Pool } from '../pool.ts'
import { readMeasured } from './read-measured.ts'

/** The keys of a line of history with the types of their values. Lines with the same digest have the same keys. */
export interface KeySet {
  /** In base64. */
  digest: string
  keys: Readonly<Record<string, string>>
}

// A run that logs other keys with each line gets no more. Its later lines are searched one by one.
const maxSets = 500

// Of a key in an answer, beside its text.
const bytesPerKey = 150

/** The numbers of a run's sets by their digests, and the bytes of those that were added. */
interface ResolvedSets {
  numbers: Map<string, number>
  bytes: number
}

/** Finds a run's sets. New ones are added. Call it while the run's row is locked. */
export async function resolveKeySets(
  connection: Connection,
  run: number,
  sets: readonly KeySet[],
): Promise<ResolvedSets> {
  if (sets.length === 0) return { numbers: new Map(), bytes: 0 }
  const digests = sets.map(({ digest }) => digest)
  const numbers = await listKnown(connection, run, digests)
  const missing = sets.filter(({ digest }) => !numbers.has(digest))
  if (missing.length === 0) return { numbers, bytes: 0 }
  const { rows: added } = await connection.query<{ bytes: number }>(
    `INSERT INTO training.run_key_sets (run, number, digest, keys)
     SELECT $1, used + ordinal, decode(digest, 'base64'), keys
     FROM (SELECT coalesce(max(number), 0) AS used FROM training.run_key_sets WHERE run = $1) AS before,
       ROWS FROM (json_to_recordset($2) AS (digest text, keys jsonb)) WITH ORDINALITY AS given (digest, keys, ordinal)
     WHERE used + ordinal <= ${maxSets}
     RETURNING pg_column_size(keys) AS bytes`,
    [run, JSON.stringify(missing)],
  )
  const bytes = added.reduce((sum, set) => sum + set.bytes, 0)
  return { numbers: await listKnown(connection, run, digests), bytes }
}

async function listKnown(connection: Connection, run: number, digests: string[]): Promise<Map<string, number>> {
  const { rows } = await connection.query<{ digest: string; number: number }>(
    `SELECT encode(digest, 'base64') AS digest, number FROM training.run_key_sets
     WHERE run = $1 AND digest = ANY (SELECT decode(each, 'base64') FROM unnest($2::text[]) AS each)`,
    [run, digests],
  )
  return new Map(rows.map(({ digest, number }) => [digest, number]))
}

/** Adds to the numbers of lines with these sets. */
export async function countLines(
  connection: Connection,
  run: number,
  counts: readonly { keySet: number | null; lines: number }[],
): Promise<void> {
  const known = counts.filter(({ keySet }) => keySet !== null)
  if (known.length === 0) return
  await connection.query(
    `UPDATE training.run_key_sets s SET lines = s.lines + added.lines
     FROM json_to_recordset($2) AS added ("keySet" smallint, lines bigint) WHERE s.run = $1 AND s.number = added."keySet"`,
    [run, JSON.stringify(known)],
  )
}

/** Counts all lines of a run's sets again, after lines were removed. */
export async function recountLines(connection: Connection, run: number): Promise<void> {
  await connection.query(
    `WITH counted AS MATERIALIZED (
       SELECT key_set, count(*) AS lines FROM training.run_lines WHERE run = $1 AND stream = 0 GROUP BY key_set)
     UPDATE training.run_key_sets s SET lines = coalesce((SELECT lines FROM counted WHERE key_set = s.number), 0)
     WHERE s.run = $1`,
    [run],
  )
}

/** The keys of a run's history: the type of the value, and in how many lines. */
export async function listHistoryKeys(
  pool: Pool,
  run: number,
): Promise<{ key: string; type: string; lines: number }[]> {
  const sql = `SELECT key, value AS type, sum(s.lines)::bigint AS lines
    FROM training.run_key_sets s, jsonb_each_text(s.keys) WHERE s.run = $1 AND s.lines > 0
    GROUP BY key, value ORDER BY key, value`
  return readMeasured(pool, { sql, values: [run], bytes: `octet_length(key) + ${bytesPerKey}` })
}
