import type { Pool } from '../pool.ts'
import { streamRows, type Statement } from './stream-rows.ts'
import type { SpilledPart } from './call-rows.ts'

/** A call as it is read. Payloads are JSON texts; columns that were not asked for are undefined. */
export interface StoredCall {
  id: string
  trace_id: string
  op_name: string
  started_at: string
  parent_id?: string | null
  thread_id?: string | null
  turn_id?: string | null
  display_name?: string | null
  ended_at?: string | null
  exception?: string | null
  attributes?: string | null
  inputs?: string | null
  output?: string | null
  summary?: string | null
  otel_dump?: string | null
  descendant_errors?: boolean
  wb_user_id?: string | null
  wb_run_id?: string | null
  wb_run_step?: number | null
  wb_run_step_end?: number | null
  spilled?: Record<string, SpilledPart> | null
  storage_size_bytes?: number
  total_storage_size_bytes?: number | null
}

/** Which calls, in which order: SQL over `tracing.calls c`. */
export interface CallSelection {
  /** Expressions with their names. */
  columns: string
  /** A condition that names the project and keeps to what can be seen. */
  where: string
  /** `ORDER BY …`, or nothing for any order. */
  orderBy: string
  limit?: number | null | undefined
  offset?: number | null | undefined
  values: unknown[]
}

/** SQL of the bytes of a call's payloads, and of those of its whole trace when it is the first of it. */
export const sizeColumn = 'c.start_size + c.end_size AS storage_size_bytes'
export const traceSizeColumn = `CASE WHEN c.parent_id IS NULL THEN (
  SELECT sum(t.start_size + t.end_size) FROM tracing.calls t
  WHERE t.project = c.project AND t.trace_id = c.trace_id AND t.deleted_at IS NULL
)::bigint END AS total_storage_size_bytes`

/** Calls in chunks, in bounded memory. */
export function streamCalls(pool: Pool, selection: CallSelection): AsyncGenerator<StoredCall[], void, undefined> {
  return streamRows<StoredCall>(pool, selectCalls(selection), sizeOfCall)
}

/** How many calls there are, up to a limit, and their bytes if they are asked for. */
export async function countCalls(
  pool: Pool,
  { where, limit, values }: Pick<CallSelection, 'where' | 'limit' | 'values'>,
  withSize: boolean,
): Promise<{ count: number; bytes: number | null }> {
  const size = withSize ? 'c.start_size + c.end_size' : 'NULL::int'
  const text = `
    SELECT count(*) AS count, sum(size)::bigint AS bytes
    FROM (SELECT ${size} AS size FROM tracing.calls c WHERE ${where} ${limitOf(limit)}) AS found`
  const { rows } = await pool.query<{ count: number; bytes: number | null }>(text, values)
  const { count, bytes } = rows[0]!
  return { count, bytes: withSize ? (bytes ?? 0) : null }
}

// As the index of calls in time has them, and as lists are unless something else is asked for.
const inTime = 'ORDER BY c.started_at ASC, c.id ASC'

function selectCalls({ columns, where, orderBy, limit, offset, values }: CallSelection): Statement {
  const found = `FROM tracing.calls c WHERE ${where}`
  if (!offset) return { text: `SELECT ${columns} ${found} ${orderBy} ${limitOf(limit)}`, values }
  const from = `OFFSET ${BigInt(offset)}`
  if (orderBy !== inTime) return { text: `SELECT ${columns} ${found} ${orderBy} ${limitOf(limit)} ${from}`, values }
  // Where a far page begins is counted out in the index alone, without reading the rows before it.
  const first = `SELECT c.started_at, c.id ${found} ${orderBy} LIMIT 1 ${from}`
  return {
    text: `SELECT ${columns} ${found} AND (c.started_at, c.id) >= (${first}) ${orderBy} ${limitOf(limit)}`,
    values,
  }
}

function limitOf(limit: number | null | undefined): string {
  return limit === null || limit === undefined ? '' : `LIMIT ${BigInt(limit)}`
}

function sizeOfCall({ attributes, inputs, output, summary, otel_dump: dump }: StoredCall): number {
  return [attributes, inputs, output, summary, dump].reduce((sum, text) => sum + (text?.length ?? 0), 300)
}
