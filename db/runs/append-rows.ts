import type { Connection } from '../pool.ts'
import { buildKeySet } from './build-key-set.ts'
import type { RunName } from './table.ts'
import { writeBlocks } from './write-lines.ts'

/** Values of one step of a run, as clients log them. */
export type HistoryRow = Readonly<Record<string, number>>

interface RunEnd {
  number: number
  lastStep: number
}

/**
 * Appends rows of the service to a run's history, and begins the run if there is none. Each row gets the step after the
 * last one. Lines of the service are below 0: clients number theirs from 0, and send them again from any number.
 */
export async function appendRows(
  connection: Connection,
  name: RunName,
  { keyId, rows }: { keyId: string | null; rows: readonly HistoryRow[] },
): Promise<void> {
  if (rows.length === 0) return
  const { number, lastStep } = await lockRun(connection, name, keyId)
  const time = Date.now() / 1_000
  const lines = rows.map((row, index) => describeLine({ ...row, _timestamp: time, _step: lastStep + 1 + index }))
  const offset = (await findFirstLine(connection, number)) - lines.length
  const bytes = await writeBlocks(connection, number, [{ stream: 'history', offset, lines }])
  const summary: HistoryRow = Object.assign({}, ...rows)
  await connection.query(
    'UPDATE training.runs SET bytes = bytes + $2, last_step = $3, summary = summary || $4::jsonb WHERE number = $1',
    [number, bytes, lastStep + lines.length, summary],
  )
}

/** A run that no client writes to has ended. Its end is that of its last row. */
async function lockRun(
  connection: Connection,
  { entity, project, name }: RunName,
  keyId: string | null,
): Promise<RunEnd> {
  const { rows } = await connection.query<RunEnd>(
    `INSERT INTO training.runs AS r (entity, project, name, key_id, state, exit_code, finished_at)
     VALUES ($1, $2, $3, $4, 'finished', 0, now())
     ON CONFLICT (entity, project, name) WHERE deleted_at IS NULL DO UPDATE SET
       finished_at = CASE WHEN r.finished_at IS NOT NULL THEN now() END
     RETURNING number, last_step AS "lastStep"`,
    [entity, project, name, keyId ?? noKey],
  )
  return rows[0]!
}

/** For runs of jobs that kubectl has created. */
const noKey = '00000000-0000-0000-0000-000000000000'

async function findFirstLine(connection: Connection, run: number): Promise<number> {
  const { rows } = await connection.query<{ line: number }>(
    'SELECT least(min(line), 0) AS line FROM training.run_lines WHERE run = $1 AND stream = 0',
    [run],
  )
  return rows[0]!.line
}

function describeLine(row: HistoryRow & { _step: number }) {
  const keySet = buildKeySet(row)
  return { text: JSON.stringify(row), step: row._step, ...(keySet && { keySet }) }
}
