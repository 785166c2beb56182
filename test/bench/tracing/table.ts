import type { Connection, Pool } from '../../../db/pool.ts'
import type { BenchCall } from './calls.ts'

/** The table that single INSERTs go to. */
export const singleTable = 'bench_single'

/** The columns that calls are stored in, with payloads as plain text and no index: what Postgres takes most quickly. */
const columns = {
  week: 'integer',
  project: 'integer',
  id: 'text',
  trace_id: 'text',
  parent_id: 'text',
  thread_id: 'text',
  turn_id: 'text',
  op_name: 'text',
  display_name: 'text',
  renamed: 'boolean',
  started_at: 'timestamptz',
  ended_at: 'timestamptz',
  exception: 'text',
  attributes: 'text',
  inputs: 'text',
  output: 'text',
  summary: 'text',
  otel_dump: 'text',
  input_refs: 'text[]',
  output_refs: 'text[]',
  descendant_errors: 'boolean',
  wb_user_id: 'text',
  wb_run_id: 'text',
  wb_run_step: 'bigint',
  wb_run_step_end: 'bigint',
  size: 'integer',
  spilled: 'jsonb',
  deleted_at: 'timestamptz',
} as const

const names = Object.keys(columns)

/** What columns hold in ordinary calls. */
const usual = { renamed: 'f', input_refs: '{}', output_refs: '{}', descendant_errors: 'f', wb_user_id: 'key-1' }

type Value = string | null

/** Makes a plain logged table without any index. */
export async function makeTable(pool: Pool, name: string): Promise<void> {
  const list = Object.entries(columns).map(([column, type]) => `${column} ${type}`)
  await pool.query(`CREATE TABLE ${name} (${list.join(', ')})`)
}

/** What is stored of a call, in the order of the columns. */
export function toRow(call: BenchCall): Value[] {
  const payloads = {
    attributes: JSON.stringify(call.attributes),
    inputs: JSON.stringify(call.inputs),
    output: JSON.stringify(call.output),
    summary: JSON.stringify(call.summary),
  }
  const size = Object.values(payloads).reduce((sum, text) => sum + text.length, 0)
  const stored: Record<string, unknown> = {
    ...call,
    ...usual,
    ...payloads,
    week: '2960',
    project: '1',
    size: `${size}`,
  }
  return names.map((name) => (stored[name] ?? null) as Value)
}

/** Rows as COPY's text form has them. */
export function encodeRows(rows: Value[][]): Buffer {
  return Buffer.from(rows.map((row) => `${row.map(encodeField).join('\t')}\n`).join(''))
}

const escapes: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

function encodeField(value: Value): string {
  return value === null ? '\\N' : value.replaceAll(/[\\\n\r\t]/g, (found) => escapes[found]!)
}

/** What of pg's connection a COPY needs. */
interface CopyConnection {
  query: (text: string) => void
  sendCopyFromChunk: (chunk: Buffer) => void
  endCopyFrom: () => void
}

/** Copies rows into a table, in a transaction of its own; in pieces of so many bytes. */
export async function copyRows(
  connection: Connection,
  table: string,
  { rows, chunkBytes }: { rows: Buffer; chunkBytes: number },
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let failure: Error | undefined
  // pg runs whatever has these members in place of a query, and calls them as messages come.
  const copy = {
    submit: (wire: CopyConnection) => wire.query(`COPY ${table} FROM STDIN`),
    handleCopyInResponse: (wire: CopyConnection) => {
      for (let at = 0; at < rows.length; at += chunkBytes) wire.sendCopyFromChunk(rows.subarray(at, at + chunkBytes))
      wire.endCopyFrom()
    },
    handleCommandComplete: () => {},
    handleError: (error: Error) => (failure = error),
    handleReadyForQuery: () => (failure ? reject(failure) : resolve()),
  }
  connection.query(copy as never)
  await promise
}

/** The statement that stores one row in a table; its values are those of `toRow(call)`. */
export function insertStatement(table: string): string {
  const places = names.map((_, index) => `$${index + 1}`)
  return `INSERT INTO ${table} (${names.join(', ')}) VALUES (${places.join(', ')})`
}
