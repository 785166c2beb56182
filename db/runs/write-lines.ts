import { withTransaction, type Connection, type Pool } from '../pool.ts'
import { countLines, recountLines, resolveKeySets, type KeySet } from './key-sets.ts'
import type { RunName } from './table.ts'

/** The streams of a run, with their numbers in `training.run_lines`. */
export const runStreams = { history: 0, events: 1, output: 2 } as const
export type RunStream = keyof typeof runStreams

/** One line of the history has a step and keys. */
export interface NewLine {
  text: string
  step?: number
  keySet?: KeySet
}

/** Lines that replace those from `offset` on. */
export interface LineBlock {
  stream: RunStream
  offset: number
  lines: NewLine[]
}

/** What a client sends at once. */
export interface RunWrite {
  blocks: LineBlock[]
  /** A JSON object, as text. It replaces the summary. */
  summary: string | undefined
  /** The run has ended. */
  exit: { code: number } | undefined
  preempting: boolean
}

interface LockedRun {
  number: number
  ended: boolean
  stopping: boolean
  /** How many lines each stream has. */
  lines: Record<RunStream, number>
}

/**
 * Writes what a client has sent, in one transaction. The same again changes nothing. Undefined if there is no such run.
 * The lock on the run's row orders its writers.
 */
export async function writeRun(
  pool: Pool,
  name: RunName,
  write: RunWrite,
): Promise<{ stopping: boolean; bytes: number } | undefined> {
  return withTransaction(pool, async (connection) => {
    const run = await lockRun(connection, name)
    if (!run) return undefined
    const blocks = write.blocks.filter(({ lines }) => lines.length > 0)
    // The client began the run again, under the same id, without its old lines.
    const restarted = run.ended && blocks.some(({ stream, offset }) => stream === 'history' && offset === 0)
    const before = await measureReplaced(connection, run, { blocks, restarted })
    if (restarted) await removeLinesAfter(connection, run.number, blocks)
    const after = await writeBlocks(connection, run.number, blocks)
    if (restarted) await recountLines(connection, run.number)
    await updateRun(connection, run.number, { ...write, blocks, bytes: after - before, restarted })
    return { stopping: run.stopping, bytes: after - before }
  })
}

async function lockRun(connection: Connection, { entity, project, name }: RunName): Promise<LockedRun | undefined> {
  const { rows } = await connection.query<LockedRun>(
    `SELECT number, stopping, finished_at IS NOT NULL AS ended,
       json_build_object('history', history_lines, 'events', event_lines, 'output', output_lines) AS lines
     FROM training.runs
     WHERE entity = $1 AND project = $2 AND name = $3 AND deleted_at IS NULL FOR UPDATE`,
    [entity, project, name],
  )
  return rows[0]
}

/** The bytes of the lines that these blocks replace. Most blocks have only new lines. */
async function measureReplaced(
  connection: Connection,
  { number, lines: known }: LockedRun,
  { blocks, restarted }: { blocks: LineBlock[]; restarted: boolean },
): Promise<number> {
  let bytes = 0
  for (const { stream, offset, lines } of blocks.filter((block) => block.offset < known[block.stream])) {
    const end = restarted && offset === 0 ? known[stream] : offset + lines.length
    const { rows } = await connection.query<{ bytes: number }>(
      `SELECT coalesce(sum(octet_length(text)), 0)::bigint AS bytes FROM training.run_lines
       WHERE run = $1 AND stream = $2 AND line >= $3 AND line < $4`,
      [number, runStreams[stream], offset, end],
    )
    bytes += rows[0]!.bytes
  }
  return bytes
}

/** A repetition of a run's last request has all of its lines, so it removes none of them. */
async function removeLinesAfter(connection: Connection, run: number, blocks: LineBlock[]): Promise<void> {
  for (const { stream, offset, lines } of blocks.filter((block) => block.offset === 0)) {
    await connection.query('DELETE FROM training.run_lines WHERE run = $1 AND stream = $2 AND line >= $3', [
      run,
      runStreams[stream],
      offset + lines.length,
    ])
  }
}

/**
 * Writes all lines in one statement. Returns their bytes, and those of new sets of keys. Call it while the run's row is
 * locked.
 */
export async function writeBlocks(connection: Connection, run: number, blocks: LineBlock[]): Promise<number> {
  if (blocks.length === 0) return 0
  const { numbers, bytes } = await resolveKeySets(connection, run, listKeySets(blocks))
  const rows = blocks.flatMap(({ stream, offset, lines }) =>
    lines.map(({ text, step, keySet }, index) => ({
      stream: runStreams[stream],
      line: offset + index,
      step: step ?? null,
      key_set: (keySet && numbers.get(keySet.digest)) ?? null,
      text,
    })),
  )
  const { rows: written } = await connection.query<{ keySet: number | null; lines: number }>(
    `WITH written AS (
       INSERT INTO training.run_lines AS known (run, stream, line, step, key_set, text)
       SELECT $1, stream, line, step, key_set, text
       FROM json_to_recordset($2) AS given (stream smallint, line integer, step bigint, key_set smallint, text text)
       ON CONFLICT (run, stream, line) DO UPDATE
         SET step = excluded.step, key_set = excluded.key_set, text = excluded.text WHERE known.text <> excluded.text
       RETURNING key_set, xmax = 0 AS inserted)
     SELECT key_set AS "keySet", count(*) AS lines FROM written WHERE inserted GROUP BY key_set`,
    [run, JSON.stringify(rows)],
  )
  await countLines(connection, run, written)
  return rows.reduce((sum, { text }) => sum + Buffer.byteLength(text), bytes)
}

function listKeySets(blocks: LineBlock[]): KeySet[] {
  const sets = blocks.flatMap(({ lines }) => lines.flatMap(({ keySet }) => keySet ?? []))
  return [...new Map(sets.map((set) => [set.digest, set])).values()]
}

async function updateRun(
  connection: Connection,
  run: number,
  { blocks, bytes, restarted, ...write }: RunWrite & { bytes: number; restarted: boolean },
): Promise<void> {
  const endOf = (stream: RunStream) => {
    const ends = blocks.filter((block) => block.stream === stream).map(({ offset, lines }) => offset + lines.length)
    return Math.max(0, ...ends)
  }
  const steps = blocks.flatMap(({ lines }) => lines.flatMap(({ step }) => step ?? []))
  const lastStep = steps.reduce((last, step) => Math.max(last, step), -1)
  await connection.query(
    `UPDATE training.runs SET heartbeat_at = now(), bytes = bytes + $2, summary = coalesce($3::jsonb, summary),
       history_lines = greatest($4, CASE WHEN $8 THEN 0 ELSE history_lines END),
       event_lines = greatest($5, CASE WHEN $8 THEN 0 ELSE event_lines END),
       output_lines = greatest($6, CASE WHEN $8 THEN 0 ELSE output_lines END),
       last_step = greatest($7, CASE WHEN NOT $8 THEN last_step ELSE (
         SELECT coalesce(max(step), -1) FROM training.run_lines WHERE run = $1 AND stream = 0 AND line < 0) END),
       preempting = preempting OR $10,
       exit_code = $9, finished_at = CASE WHEN $9::integer IS NOT NULL THEN now() END,
       state = CASE WHEN $9::integer IS NULL THEN 'running' WHEN $9 = 0 THEN 'finished'
         WHEN preempting THEN 'preempted' ELSE 'failed' END
     WHERE number = $1`,
    [
      run,
      bytes,
      write.summary ?? null,
      endOf('history'),
      endOf('events'),
      endOf('output'),
      lastStep,
      restarted,
      write.exit?.code ?? null,
      write.preempting,
    ],
  )
}
