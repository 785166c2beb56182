import type { EventType } from './event-types.ts'
import { column, selectColumns, type RowOf } from '../columns.ts'
import { withTransaction, type Pool } from '../pool.ts'
import { recordAct } from '../accounts/audit-log.ts'

export const webhookColumns = {
  id: column<string>('id', 'uuid'),
  position: column<number>('position', 'bigint'),
  url: column<string>('url', 'text'),
  events: column<EventType[]>('events', 'text[]'),
  project: column<string | null>('project', 'text'),
  description: column<string | null>('description', 'text'),
  failures: column<number>('failures', 'integer'),
  createdAt: column<Date>('created_at', 'timestamptz'),
}

export type WebhookRow = RowOf<typeof webhookColumns>

/** A webhook with its encrypted secret. */
export interface WebhookWithSecret extends WebhookRow {
  entity: string
  sealedSecret: string
}

export interface NewWebhook extends Pick<WebhookRow, 'id' | 'url' | 'events' | 'project' | 'description'> {
  entity: string
  keyId: string
  sealedSecret: string
}

/** The webhook to change, and the key that changes it. */
export interface WebhookChange {
  entity: string
  id: string
  by: string
}

const columns = selectColumns(webhookColumns)
const columnsWithSecret = `${columns}, entity, sealed_secret AS "sealedSecret"`

/**
 * Creates a webhook. Returns undefined if the entity has `maxWebhooks`. If the id exists already, returns the existing
 * one.
 */
export async function insertWebhook(
  pool: Pool,
  webhook: NewWebhook,
  maxWebhooks: number,
): Promise<WebhookWithSecret | undefined> {
  const { id, entity, project, url, events, description, sealedSecret, keyId } = webhook
  await withTransaction(pool, async (connection) => {
    const { rowCount } = await connection.query(
      `INSERT INTO training.webhooks (id, entity, project, url, events, description, sealed_secret, key_id)
       SELECT $1, $2, $3, $4, $5, $6, $7, $8
       WHERE (SELECT count(*) FROM training.webhooks WHERE entity = $2 AND deleted_at IS NULL) < $9
       ON CONFLICT (id) DO NOTHING`,
      [id, entity, project, url, events, description, sealedSecret, keyId, maxWebhooks],
    )
    if (rowCount !== 1) return
    await recordAct(connection, { entity, actor: keyId, action: 'webhook.made', subject: id, details: { project } })
  })
  return findWebhookWithSecret(pool, { entity, id })
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
export async function findWebhookPosition(pool: Pool, entity: string, id: string): Promise<number | undefined> {
  const { rows } = await pool.query<{ position: number }>(
    'SELECT position FROM training.webhooks WHERE id = $1 AND entity = $2',
    [id, entity],
  )
  return rows[0]?.position
}

/** Lists a page of an entity's webhooks that follow the position `after`, in order of creation. */
export async function listWebhooks(
  pool: Pool,
  entity: string,
  page: { after: number | undefined; limit: number },
): Promise<WebhookRow[]> {
  const { rows } = await pool.query<WebhookRow>(
    `SELECT ${columns} FROM training.webhooks
     WHERE entity = $1 AND deleted_at IS NULL AND ($2::bigint IS NULL OR position > $2) ORDER BY position LIMIT $3`,
    [entity, page.after ?? null, page.limit],
  )
  return rows
}

/** Finds a webhook with its secret. `lock`: until the transaction ends. */
async function findWebhookWithSecret(
  pool: Pick<Pool, 'query'>,
  { entity, id }: Pick<WebhookChange, 'entity' | 'id'>,
  lock = '',
): Promise<WebhookWithSecret | undefined> {
  const { rows } = await pool.query<WebhookWithSecret>(
    `SELECT ${columnsWithSecret} FROM training.webhooks
     WHERE id = $1 AND entity = $2 AND deleted_at IS NULL ${lock}`,
    [id, entity],
  )
  return rows[0]
}

/**
 * Rotates a webhook's secret to the one that `reseal` returns for it; undefined leaves it as it is.
 * Deliveries are signed with both secrets for a day.
 */
export async function rotateWebhookSecret(
  pool: Pool,
  { entity, id, by }: WebhookChange,
  reseal: (webhook: WebhookWithSecret) => string | undefined,
): Promise<WebhookWithSecret | undefined> {
  return withTransaction(pool, async (connection) => {
    const webhook = await findWebhookWithSecret(connection, { entity, id }, 'FOR UPDATE')
    const sealed = webhook && reseal(webhook)
    if (!sealed) return webhook
    await connection.query(
      `UPDATE training.webhooks SET sealed_secret = $2, sealed_old_secret = sealed_secret,
         old_secret_until = clock_timestamp() + interval '24 hours'
       WHERE id = $1`,
      [webhook.id, sealed],
    )
    await recordAct(connection, { entity, actor: by, action: 'webhook.secret_rotated', subject: webhook.id })
    return { ...webhook, sealedSecret: sealed }
  })
}

/** Deletes a webhook with its deliveries. Its row stays, without secrets. Returns false if there is no such webhook. */
export async function deleteWebhook(pool: Pool, { entity, id, by }: WebhookChange): Promise<boolean> {
  const isDeleted = await withTransaction(pool, async (connection) => {
    const { rowCount } = await connection.query(
      `UPDATE training.webhooks SET deleted_at = clock_timestamp(), url = '',
         sealed_secret = NULL, sealed_old_secret = NULL
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
