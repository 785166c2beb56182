import { eventsKind, numberedChannel } from './read-outbox.ts'
import { withTransaction, type Connection, type Pool } from '../pool.ts'

/** Postgres notifies this channel when the outbox or the pending deliveries have changed. */
export const outboxChannel = 'training_outbox'

/** The most rows that are numbered in one transaction. */
export const outboxBatch = 500
// A day longer than what can be replayed, so that nobody asks for what is being removed.
const keptFor = "interval '8 days'"
// Longer than a stream can be continued.
const eventsKeptFor = "interval '2 hours'"

/**
 * Numbers the committed rows of the outbox that have no position, in order. Creates their deliveries for the subscribed
 * webhooks. Handles at most {@link outboxBatch} rows in one transaction. Concurrent callers wait for each other.
 *
 * @returns how many rows there were
 */
export async function numberOutbox(pool: Pool): Promise<number> {
  return withTransaction(pool, async (connection) => {
    const { rows } = await connection.query<{ position: number }>(
      'SELECT position FROM training.outbox_head FOR UPDATE',
    )
    const head = rows[0]!.position
    const count = await assignPositions(connection, head)
    if (count === 0) return 0
    await connection.query('UPDATE training.outbox_head SET position = $1', [head + count])
    await insertDeliveries(connection, head)
    await connection.query(`NOTIFY ${numberedChannel}`)
    return count
  })
}

async function assignPositions(connection: Connection, head: number): Promise<number> {
  const { rowCount } = await connection.query(
    `UPDATE training.outbox SET position = $1 + ranked.rank
     FROM (
       SELECT id, row_number() OVER (ORDER BY id) AS rank FROM training.outbox
       WHERE position IS NULL ORDER BY id LIMIT ${outboxBatch}
     ) ranked
     WHERE outbox.id = ranked.id`,
    [head],
  )
  return rowCount ?? 0
}

async function insertDeliveries(connection: Connection, head: number): Promise<void> {
  await connection.query(
    `INSERT INTO training.webhook_deliveries (webhook_id, position, subject_id)
     SELECT w.id, o.position, o.subject_id
     FROM training.outbox o JOIN training.webhooks w ON w.entity = o.entity AND o.kind = ANY (w.events)
       AND (w.project IS NULL OR w.project = o.project) AND w.deleted_at IS NULL AND w.created_at <= o.at
     WHERE o.position > $1`,
    [head],
  )
}

/** Removes old changes with their deliveries. Webhooks need none of those that say which events jobs have got. */
export async function expireOutbox(pool: Pool): Promise<void> {
  await pool.query(
    `DELETE FROM training.outbox WHERE position IS NOT NULL AND (at < clock_timestamp() - ${keptFor}
       OR kind = '${eventsKind}' AND at < clock_timestamp() - ${eventsKeptFor})`,
  )
}
