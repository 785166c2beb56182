import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { from as copyFrom } from 'pg-copy-streams'
import type { Connection, Pool } from '../../../db/pool.ts'
import type { BenchCall } from './calls.ts'

/** The columns of stored calls, with payloads as plain text and without indexes: the fastest form for Postgres. */
const columns =
  'week integer, project integer, id text, trace_id text, parent_id text, thread_id text, turn_id text, op_name text, display_name text, renamed boolean, started_at timestamptz, ended_at timestamptz, exception text, attributes text, inputs text, output text, summary text, otel_dump text, input_refs text[], output_refs text[], descendant_errors boolean, wb_user_id text, wb_run_id text, wb_run_step bigint, wb_run_step_end bigint, size integer, spilled jsonb, deleted_at timestamptz'
const names = columns.split(', ').map((column) => column.split(' ')[0]!)

/** The column values of ordinary calls. */
const defaults = {
  week: '2960',
  project: '1',
  renamed: 'f',
  input_refs: '{}',
  output_refs: '{}',
  descendant_errors: 'f',
}

type Value = string | null

/** Creates a plain logged table, in place of one of this name. */
export async function makeTable(pool: Pool, name: string): Promise<void> {
  await pool.query(`DROP TABLE IF EXISTS ${name}`)
  await pool.query(`CREATE TABLE ${name} (${columns})`)
}

/** The values of a call, in the order of the columns. */
export function toRow(call: BenchCall): Value[] {
  const texts = [call.attributes, call.inputs, call.output, call.summary].map((payload) => JSON.stringify(payload))
  const [attributes, inputs, output, summary] = texts
  const size = String(texts.join('').length)
  const stored: Record<string, unknown> = { ...call, ...defaults, attributes, inputs, output, summary, size }
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

/** Copies rows into a table in a transaction of its own. */
export async function copyRows(connection: Connection, table: string, rows: Buffer): Promise<void> {
  const chunks = Array.from({ length: Math.ceil(rows.length / 65_536) }, (_, at) => at * 65_536)
  const pieces = chunks.map((from) => rows.subarray(from, from + 65_536))
  await pipeline(Readable.from(pieces), connection.query(copyFrom(`COPY ${table} FROM STDIN`)))
}

/** The INSERT of one row. Its values are those of `toRow(call)`. */
export function insertStatement(table: string): string {
  const placeholders = names.map((_, index) => `$${index + 1}`)
  return `INSERT INTO ${table} (${names.join(', ')}) VALUES (${placeholders.join(', ')})`
}
