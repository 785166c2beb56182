import { splitBySize } from '../../lib/split-by-size.ts'
import type { Connection, Pool } from '../pool.ts'
import { endPayloads, startPayloads } from './call-columns.ts'
import type { StoredCall } from './call-rows.ts'
import { streamRows, type Statement } from './stream-rows.ts'

/** Selects calls and their order, in SQL over `tracing.calls c`. */
export interface CallSelection {
  /** Column names, as in `StoredCall`. */
  columns: readonly string[]
  /** A condition that names the project and excludes invisible calls. */
  where: string
  /** `ORDER BY …`, or empty for any order. */
  orderBy: string
  limit?: number | null | undefined
  offset?: number | null | undefined
  values: unknown[]
}

// Computed columns: the bytes of a call's payloads, and those of its whole trace if it is the root.
const computed: Record<string, string> = {
  storage_size_bytes: 'c.start_size + c.end_size',
  total_storage_size_bytes: `CASE WHEN c.parent_id IS NULL THEN (
    SELECT sum(t.start_size + t.end_size) FROM tracing.calls t
    WHERE t.project = c.project AND t.trace_id = c.trace_id AND t.deleted_at IS NULL
  )::bigint END`,
}

// Columns without a size limit. If they have more than `maxBytes` in a call, the call is listed without them and they
// are read by key. So no chunk of a list is large.
const texts: ReadonlySet<string> = new Set([...startPayloads, ...endPayloads, 'exception'])
const textBytes = '(c.start_size + c.end_size + coalesce(octet_length(c.exception), 0))'
const maxBytes = 16 * 1024
const maxBytesApart = 4 * 1024 * 1024

/**
 * Reads calls in chunks, in bounded memory. @param announce is called with the bytes of each chunk that are read
 * separately, before they are read
 */
export function streamCalls(
  pool: Pool,
  selection: CallSelection,
  announce: (bytes: number) => void,
): AsyncGenerator<StoredCall[], void, undefined> {
  const columns = selection.columns.filter((name) => texts.has(name))
  const bytesApart = ({ held }: StoredCall) => held?.[2] ?? 0
  return streamRows<StoredCall>(pool, selectCalls(selection), async function* (connection, calls) {
    for (const part of splitBySize(calls, maxBytesApart, bytesApart)) {
      announce(part.reduce((sum, call) => sum + bytesApart(call), 0))
      await readTexts(connection, part, columns)
      yield part
    }
  })
}

async function readTexts(connection: Connection, calls: StoredCall[], columns: string[]): Promise<void> {
  const waiting = new Map(calls.filter(({ held }) => held).map((call) => [call.id, call]))
  if (waiting.size === 0) return
  const keys = [...waiting.values()]
  const { rows } = await connection.query<StoredCall>(
    `SELECT c.id, ${columns.map((name) => `c.${name}`).join(', ')}
     FROM unnest($1::int[], $2::smallint[], $3::text[]) AS wanted (project, week, id)
     JOIN tracing.calls c ON c.project = wanted.project AND c.week = wanted.week AND c.id = wanted.id`,
    [keys.map(({ held }) => held![0]), keys.map(({ held }) => held![1]), [...waiting.keys()]],
  )
  for (const row of rows) Object.assign(waiting.get(row.id)!, row)
}

/** Counts calls up to a limit, and sums their bytes if requested. */
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

// The default order of lists, and newest first. The time index of calls serves both.
const oldestFirst = 'ORDER BY c.started_at ASC, c.id ASC'
const newestFirst = 'ORDER BY c.started_at DESC, c.id ASC'

// The start of a far page is found in the index alone, without reading the rows before it.
const fromPage: Record<string, string> = {
  [oldestFirst]: '(c.started_at, c.id) >= (SELECT page.started_at, page.id FROM page)',
  [newestFirst]: `c.started_at <= (SELECT page.started_at FROM page)
    AND (c.started_at < (SELECT page.started_at FROM page) OR c.id >= (SELECT page.id FROM page))`,
}

function selectCalls({ columns, where, orderBy, limit, offset, values }: CallSelection): Statement {
  const found = `FROM tracing.calls c WHERE ${where}`
  const calls = `SELECT ${selectColumns(columns)} ${found}`
  const rest = { values, maxRowBytes: maxBytes }
  if (!offset) return { text: `${calls} ${orderBy} ${limitOf(limit)}`, ...rest }
  const from = `OFFSET ${BigInt(offset)}`
  const begin = fromPage[orderBy]
  if (!begin) return { text: `${calls} ${orderBy} ${limitOf(limit)} ${from}`, ...rest }
  const page = `WITH page AS MATERIALIZED (SELECT c.started_at, c.id ${found} ${orderBy} LIMIT 1 ${from})`
  return { text: `${page} ${calls} AND ${begin} ${orderBy} ${limitOf(limit)}`, ...rest }
}

function selectColumns(names: readonly string[]): string {
  const columns = names.map((name) => {
    if (texts.has(name)) return `CASE WHEN ${textBytes} <= ${maxBytes} THEN c.${name} END AS ${name}`
    return computed[name] ? `${computed[name]} AS ${name}` : `c.${name}`
  })
  const held = `CASE WHEN ${textBytes} > ${maxBytes} THEN ARRAY[c.project, c.week, ${textBytes}] END AS held`
  return [...columns, ...(names.some((name) => texts.has(name)) ? [held] : [])].join(', ')
}

function limitOf(limit: number | null | undefined): string {
  return limit === null || limit === undefined ? '' : `LIMIT ${BigInt(limit)}`
}
