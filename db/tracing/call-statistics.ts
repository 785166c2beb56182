import type { Pool } from '../pool.ts'

/** Selects calls, in SQL over `tracing.calls c`. */
interface Selected {
  /** A condition that names the project and excludes invisible calls. */
  where: string
  values: unknown[]
}

export interface CallDistribution {
  calls: number
  /** The times of the first and the last call; null without calls. */
  from: string | null
  to: string | null
  buckets: { index: number; calls: number; errors: number }[]
  ops: Counted[]
  statuses: Counted[]
  threads: Counted[]
}

/** A value, and how many calls have it. */
export interface Counted {
  value: string
  calls: number
}

interface Wanted extends Selected {
  /** SQL of a call's status. */
  status: string
  maxCalls: number
  buckets: number
  /** The times that the buckets cover. By default those of the calls. */
  from: string | null
  to: string | null
  maxValues: number
}

/** Counts the newest calls by time, op, status and thread. Reads no payload. Columns of type json would come as texts. */
export async function distributeCalls(pool: Pool, wanted: Wanted): Promise<CallDistribution> {
  const { where, values, status, maxCalls, buckets, from, to, maxValues } = wanted
  const [max, count, begin, end, most] = [1, 2, 3, 4, 5].map((offset) => `$${values.length + offset}`)
  const top = (column: string) => `(SELECT coalesce(jsonb_agg(g), '[]') FROM (
    SELECT ${column} AS value, count(*) AS calls FROM found WHERE ${column} IS NOT NULL
    GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ${most}::int) g)`
  const { rows } = await pool.query<CallDistribution>(
    `WITH found AS MATERIALIZED (
       SELECT c.started_at AS at, c.op_name AS op, (${status}) AS status, c.thread_id AS thread
       FROM tracing.calls c WHERE ${where} ORDER BY c.started_at DESC LIMIT ${max}::int
     ), span AS (
       SELECT coalesce(${begin}::timestamptz, min(at)) AS low, coalesce(${end}::timestamptz, max(at)) AS high FROM found
     ), bucketed AS (
       SELECT least(${count}::int - 1, greatest(0, floor(extract(epoch FROM at - low)
         / greatest(extract(epoch FROM high - low), 0.001) * ${count}::int)))::int AS index, status
       FROM found, span
     )
     SELECT (SELECT count(*) FROM found) AS calls,
       (SELECT to_char(low AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') FROM span) AS "from",
       (SELECT to_char(high AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') FROM span) AS "to",
       (SELECT coalesce(jsonb_agg(b ORDER BY b.index), '[]') FROM (
         SELECT index, count(*) AS calls, count(*) FILTER (WHERE status LIKE '%error') AS errors
         FROM bucketed GROUP BY 1) b) AS buckets,
       ${top('op')} AS ops, ${top('status')} AS statuses, ${top('thread')} AS threads`,
    [...values, maxCalls, buckets, from, to, maxValues],
  )
  return rows[0]!
}

/** Counts the models that the newest calls have used. Usage in the artifact store is not read. */
export async function countModels(
  pool: Pool,
  { where, values, maxCalls, maxValues }: Pick<Wanted, 'where' | 'values' | 'maxCalls' | 'maxValues'>,
): Promise<Counted[]> {
  const [max, most] = [1, 2].map((offset) => `$${values.length + offset}`)
  const { rows } = await pool.query<Counted>(
    `SELECT used.model AS value, count(*) AS calls FROM (
       SELECT c.summary FROM tracing.calls c WHERE ${where} ORDER BY c.started_at DESC LIMIT ${max}::int
     ) newest, json_object_keys(CASE WHEN json_typeof(newest.summary -> 'usage') = 'object' THEN newest.summary -> 'usage' END)
       AS used (model)
     GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ${most}::int`,
    [...values, maxCalls, maxValues],
  )
  return rows
}
