import type { Connection, Pool } from '../../../db/pool.ts'
import type { BenchCall } from './calls.ts'

/** The table of single INSERTs. */
export const singleTable = 'bench_single'

/** The columns of stored calls, with payloads as plain text and without indexes: the fastest form for Postgres. */
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

/** The column values of ordinary calls. */
const usual = { renamed: 'f', input_refs: '{}', output_refs: '{}', descendant_errors: 'f', wb_user_id: 'key-1' }

type Value = string | null

/** Creates a plain logged table without indexes. */
export async function makeTable(pool: Pool, name: string): Promise<void> {
  const list = Object.entries(columns).map(([column, type]) => `${column} ${type}`)
  await pool.query(`CREATE TABLE ${name} (${list.join(', ')})`)
}

/** The values of a call, in the order of the columns. */
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

/** Encodes rows in COPY's text format. */
export function encodeRows(rows: Value[][]): Buffer {
  return Buffer.from(rows.map((row) => `${row.map(encodeField).join('\t')}\n`).join(''))
}

const escapes: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

function encodeField(value: Value): string {
  return value === null ? '\\N' : value.replaceAll(/[\\\n\r\t]/g, (found) => escapes[found]!)
}

/** The part of pg's connection that COPY needs. */
interface CopyConnection {
  query: (text: string) => void
  sendCopyFromChunk: (chunk: Buffer) => void
  endCopyFrom: () => void
}

/** Copies rows into a table in its own transaction, in pieces of this many bytes. */
export async function copyRows(
  connection: Connection,
  table: string,
  { rows, chunkBytes }: { rows: Buffer; chunkBytes: number },
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let failure: Error | undefined
  // pg accepts an object with these members instead of a query, and calls them for each message.
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

/** The INSERT of one row. Its values are those of `toRow(call)`. */
export function insertStatement(table: string): string {
  const places = names.map((_, index) => `$${index + 1}`)
  return `INSERT INTO ${table} (${names.join(', ')}) VALUES (${places.join(', ')})`
}
