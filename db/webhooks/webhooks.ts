import type { EventType } from './event-types.ts'
import { column, selectColumns, type RowOf } from '../columns.ts'
import { withTransaction, type Pool } from '../pool.ts'
import { recordAct } from '../accounts/audit-log.ts'

export const webhookColumns = {
  id: column<string>('id', 'uuid'),
  place: column<number>('place', 'bigint'),
  url: column<string>('url', 'text'),
  events: column<EventType[]>('events', 'text[]'),
  project: column<string | null>('project', 'text'),
  description: column<string | null>('description', 'text'),
  secret: column<string>('secret', 'text'),
  failures: column<number>('failures', 'integer'),
  createdAt: column<Date>('created_at', 'timestamptz'),
}

export type WebhookRow = RowOf<typeof webhookColumns>

export interface NewWebhook extends Pick<WebhookRow, 'id' | 'url' | 'events' | 'project' | 'description' | 'secret'> {
  entity: string
  keyId: string
}

/** The webhook to change, and the key that changes it. */
export interface WebhookChange {
  entity: string
  id: string
  by: string
}

const columns = selectColumns(webhookColumns)

/**
 * Creates a webhook. Returns undefined if the entity has `maxWebhooks`. If the id exists already, returns the existing
 * one.
 */
export async function insertWebhook(
  pool: Pool,
  webhook: NewWebhook,
  maxWebhooks: number,
): Promise<WebhookRow | undefined> {
  const { id, entity, project, url, events, description, secret, keyId } = webhook
  await withTransaction(pool, async (connection) => {
    const { rowCount } = await connection.query(
      `INSERT INTO training.webhooks (id, entity, project, url, events, description, secret, key_id)
       SELECT $1, $2, $3, $4, $5, $6, $7, $8
       WHERE (SELECT count(*) FROM training.webhooks WHERE entity = $2 AND deleted_at IS NULL) < $9
       ON CONFLICT (id) DO NOTHING`,
      [id, entity, project, url, events, description, secret, keyId, maxWebhooks],
    )
    if (rowCount !== 1) return
    await recordAct(connection, { entity, actor: keyId, action: 'webhook.made', subject: id, details: { project } })
  })
  return findWebhook(pool, entity, id)
}

/** Finds a webhook of an entity. */
export async function findWebhook(pool: Pool, entity: string, id: string): Promise<WebhookRow | undefined> {
  const { rows } = await pool.query<WebhookRow>(
    `SELECT ${columns} FROM training.webhooks WHERE id = $1 AND entity = $2 AND deleted_at IS NULL`,
    [id, entity],
  )
  return rows[0]
}

/** The position of a webhook in its entity's list, also of a deleted one. */
export async function findWebhookPlace(pool: Pool, entity: string, id: string): Promise<number | undefined> {
  const { rows } = await pool.query<{ place: number }>(
    'SELECT place FROM training.webhooks WHERE id = $1 AND entity = $2',
    [id, entity],
  )
  return rows[0]?.place
}

/** Lists a page of an entity's webhooks that follow the position `after`, in order of creation. */
export async function listWebhooks(
  pool: Pool,
  entity: string,
  page: { after: number | undefined; limit: number },
): Promise<WebhookRow[]> {
  const { rows } = await pool.query<WebhookRow>(
    `SELECT ${columns} FROM training.webhooks
     WHERE entity = $1 AND deleted_at IS NULL AND ($2::bigint IS NULL OR place > $2) ORDER BY place LIMIT $3`,
    [entity, page.after ?? null, page.limit],
  )
  return rows
}

/** Rotates a webhook's secret. Repeated requests rotate it once. Deliveries are signed with both secrets for a day. */
export async function rotateWebhookSecret(
  pool: Pool,
  { entity, id, by }: WebhookChange,
  secret: string,
): Promise<WebhookRow | undefined> {
  await withTransaction(pool, async (connection) => {
    const { rowCount } = await connection.query(
      `UPDATE training.webhooks
       SET secret = $3, old_secret = secret, old_secret_until = clock_timestamp() + interval '24 hours'
       WHERE id = $1 AND entity = $2 AND deleted_at IS NULL AND secret <> $3`,
      [id, entity, secret],
    )
    if (rowCount !== 1) return
    await recordAct(connection, { entity, actor: by, action: 'webhook.secret_rotated', subject: id.toLowerCase() })
  })
  return findWebhook(pool, entity, id)
}

/** Deletes a webhook with its deliveries. Its row stays, without secrets. Returns false if there is no such webhook. */
export async function deleteWebhook(pool: Pool, { entity, id, by }: WebhookChange): Promise<boolean> {
  const isDeleted = await withTransaction(pool, async (connection) => {
    const { rowCount } = await connection.query(
      `UPDATE training.webhooks SET deleted_at = clock_timestamp(), url = '', secret = '', old_secret = NULL
       WHERE id = $1 AND entity = $2 AND deleted_at IS NULL`,
      [id, entity],
    )
    if (rowCount !== 1) return false
    await recordAct(connection, { entity, actor: by, action: 'webhook.deleted', subject: id.toLowerCase() })
    return true
  })
  if (!isDeleted) return false
  // This is not in the same transaction: an attempt that is being recorded holds its delivery and waits for the
  // webhook.
  await pool.query('DELETE FROM training.webhook_deliveries WHERE webhook_id = $1', [id])
  return true
}
