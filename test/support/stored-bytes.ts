import { expect } from 'vitest'
import type { Pool } from '../../db/pool.ts'

const counted = `SELECT project, week, bytes::text FROM tracing.stored_bytes WHERE bytes <> 0 ORDER BY project, week`

// The sum over all rows.
const stored = `SELECT project, week, sum(bytes)::text AS bytes FROM (
    SELECT project, week, start_size::bigint + end_size + coalesce(octet_length(exception), 0) AS bytes
    FROM tracing.calls
    UNION ALL SELECT project, -2, size FROM tracing.object_versions
    UNION ALL SELECT project, -2, size FROM tracing.table_rows
    UNION ALL SELECT project, -2, row_count * 44::bigint FROM tracing.tables
    UNION ALL SELECT project, -2, size FROM tracing.files
    UNION ALL SELECT project, -2, octet_length(payload::text) FROM tracing.feedback
  ) AS everything GROUP BY project, week HAVING sum(bytes) <> 0 ORDER BY project, week`

/** Checks that the counted bytes of traces equal the stored bytes. */
export async function expectCountedTraces(pool: Pool): Promise<void> {
  const [counts, sums] = [await pool.query(counted), await pool.query(stored)]
  expect(counts.rows).toEqual(sums.rows)
}
