import { countUpTo } from '../count-up-to.ts'
import type { EventType } from './event-types.ts'
import { column, selectColumns, type RowOf } from '../columns.ts'
import type { Pool } from '../pool.ts'

export const deliveryColumns = {
  id: column<string>('id', 'uuid'),
  subjectId: column<string>('subject_id', 'uuid'),
  position: column<number>('position', 'bigint'),
  state: column<'pending' | 'delivered' | 'failed'>('state', 'text'),
  attempts: column<number>('attempts', 'integer'),
  lastStatus: column<number | null>('last_status', 'integer'),
  lastError: column<string | null>('last_error', 'text'),
  nextAttemptAt: column<Date>('next_attempt_at', 'timestamptz'),
  createdAt: column<Date>('created_at', 'timestamptz'),
  deliveredAt: column<Date | null>('delivered_at', 'timestamptz'),
}

const changeColumns = { eventId: column<string>('event_id', 'uuid'), kind: column<EventType>('kind', 'text') }

export interface DeliveryRow extends RowOf<typeof deliveryColumns>, RowOf<typeof changeColumns> {}

const select = `SELECT ${selectColumns(deliveryColumns, 'd')}, ${selectColumns(changeColumns, 'o')}
  FROM training.webhook_deliveries d JOIN training.outbox o USING (position)`

const tryAgain = `state = 'pending', next_attempt_at = clock_timestamp(), delivered_at = NULL,
  gives_up_at = clock_timestamp() + interval '24 hours', claim = NULL, claimed_until = NULL`

/** Finds a delivery of a webhook. */
export async function findDelivery(pool: Pool, webhookId: string, id: string): Promise<DeliveryRow | undefined> {
  const { rows } = await pool.query<DeliveryRow>(`${select} WHERE d.webhook_id = $1 AND d.id = $2`, [webhookId, id])
  return rows[0]
}

/** Lists a page of a webhook's deliveries before the position `before`, newest first. */
export async function listDeliveries(
  pool: Pool,
  webhookId: string,
  page: { before: number | undefined; limit: number },
): Promise<DeliveryRow[]> {
  const { rows } = await pool.query<DeliveryRow>(
    `${select} WHERE d.webhook_id = $1 AND ($2::bigint IS NULL OR d.position < $2) ORDER BY d.position DESC LIMIT $3`,
    [webhookId, page.before ?? null, page.limit],
  )
  return rows
}

/** Counts the deliveries of a webhook, up to `most`. */
export function countDeliveries(pool: Pool, webhookId: string, most: number): Promise<number> {
  const text = 'SELECT FROM training.webhook_deliveries JOIN training.outbox USING (position) WHERE webhook_id = $1'
  return countUpTo(pool, { text, values: [webhookId] }, most)
}

/** Schedules a delivery to be sent again. */
export async function replayDelivery(pool: Pool, webhookId: string, id: string): Promise<void> {
  await pool.query(`UPDATE training.webhook_deliveries SET ${tryAgain} WHERE webhook_id = $1 AND id = $2`, [
    webhookId,
    id,
  ])
  await wakeWebhook(pool, webhookId)
}

/** Schedules all failed or waiting deliveries. @returns how many */
export async function replayUndelivered(pool: Pool, webhookId: string): Promise<number> {
  const { rowCount } = await pool.query(
    `UPDATE training.webhook_deliveries SET ${tryAgain} WHERE webhook_id = $1 AND state <> 'delivered'`,
    [webhookId],
  )
  await wakeWebhook(pool, webhookId)
  return rowCount ?? 0
}

/**
 * Schedules everything of the last week after a position and a time, also changes from before the webhook was created.
 * @returns how many
 */
export async function replayAfter(
  pool: Pool,
  webhookId: string,
  after: { position: number; at: Date | null },
): Promise<number> {
  const { rowCount } = await pool.query(
    `INSERT INTO training.webhook_deliveries (webhook_id, position, subject_id)
     SELECT w.id, o.position, o.subject_id
     FROM training.outbox o JOIN training.webhooks w ON w.entity = o.entity AND o.kind = ANY (w.events)
       AND (w.project IS NULL OR w.project = o.project)
     WHERE w.id = $1 AND o.position > $2 AND o.at > clock_timestamp() - interval '7 days' AND ($3::timestamptz IS NULL OR o.at > $3)
     ON CONFLICT (webhook_id, position) DO UPDATE SET ${tryAgain}`,
    [webhookId, after.position, after.at],
  )
  await wakeWebhook(pool, webhookId)
  return rowCount ?? 0
}

async function wakeWebhook(pool: Pool, webhookId: string): Promise<void> {
  await pool.query(`UPDATE training.webhooks SET retry_at = '-infinity' WHERE id = $1`, [webhookId])
  await pool.query('NOTIFY training_outbox')
}
