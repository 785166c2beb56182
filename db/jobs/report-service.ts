import type { Connection, Pool } from '../pool.ts'
import { leaseSeconds } from './attempts.ts'

// A status server says every second that it works.
const maxGapSeconds = 5

/** Records that a status server takes reports now. After a gap, the time without a break begins anew. */
export async function recordServing(pool: Pool): Promise<void> {
  await pool.query(
    `INSERT INTO training.report_service AS service (id, up_since, seen_at) VALUES (1, clock_timestamp(), clock_timestamp())
     ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at,
       up_since = CASE WHEN service.seen_at > excluded.seen_at - make_interval(secs => ${maxGapSeconds})
         THEN service.up_since ELSE excluded.seen_at END`,
  )
}

/** Whether trainers had the time of a lease to send a report. Otherwise their silence says nothing. */
export async function couldReport(connection: Connection): Promise<boolean> {
  const { rowCount } = await connection.query(
    `SELECT FROM training.report_service
     WHERE up_since < clock_timestamp() - make_interval(secs => ${leaseSeconds})
       AND seen_at > clock_timestamp() - make_interval(secs => ${maxGapSeconds})`,
  )
  return rowCount === 1
}
