import type { Connection, Pool } from '../pool.ts'
import type { CallRow } from './call-rows.ts'

/** A change of the bytes that a project stores for the calls of a week. */
export interface StoredChange {
  project: number
  week: number
  bytes: number
}

/** SQL: the stored bytes of a call `c`. */
export const bytesOfCall = 'c.start_size::bigint + c.end_size + coalesce(octet_length(c.exception), 0)'

/** The last part of a counting statement. It adds the rows (project, week, bytes) of `changed`. */
export const countChanged = `INSERT INTO tracing.stored_bytes AS s (project, week, bytes)
  SELECT project, week, sum(bytes) FROM changed GROUP BY project, week HAVING sum(bytes) <> 0 ORDER BY project, week
  ON CONFLICT (project, week) DO UPDATE SET bytes = greatest(s.bytes + excluded.bytes, 0)`

/** The stored bytes of new calls. */
export function measureCalls(rows: readonly CallRow[]): StoredChange[] {
  return rows.map(({ project, week, startSize, endSize, end }) => ({
    project,
    week,
    bytes: startSize + endSize + Buffer.byteLength(end?.exception ?? ''),
  }))
}

/** Counts changes. Call it as the last statement of the transaction that makes them, because others wait for it. */
export async function countStored(connection: Connection, changes: readonly StoredChange[]): Promise<void> {
  const sums = new Map<string, StoredChange>()
  for (const { project, week, bytes } of changes) {
    const name = `${project} ${week}`
    sums.set(name, { project, week, bytes: (sums.get(name)?.bytes ?? 0) + bytes })
  }
  const given = [...sums.values()]
  await connection.query({
    name: 'count stored bytes',
    text: `WITH changed AS (SELECT * FROM unnest($1::int[], $2::smallint[], $3::bigint[]) AS c (project, week, bytes))
      ${countChanged}`,
    values: [given.map(({ project }) => project), given.map(({ week }) => week), given.map(({ bytes }) => bytes)],
  })
}

/**
 * Sums the bytes that an entity's projects store. It includes projects that are being erased, and replaced objects that
 * are still in the artifact store.
 */
export async function sumTraceBytes(pool: Pool, entity: string): Promise<number> {
  const { rows } = await pool.query<{ bytes: number }>(
    `WITH own AS (SELECT number FROM tracing.projects WHERE entity = $1)
     SELECT (
       (SELECT coalesce(sum(bytes), 0) FROM tracing.stored_bytes WHERE project IN (SELECT number FROM own)) +
       (SELECT coalesce(sum(size), 0) FROM tracing.replaced_payloads WHERE project IN (SELECT number FROM own))
     )::bigint AS bytes`,
    [entity],
  )
  return rows[0]!.bytes
}
