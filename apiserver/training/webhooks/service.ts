import { HttpError, notFound, unprocessable, valueError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import { randomBytes } from 'node:crypto'
import { numberOutbox } from '../../../db/webhooks/outbox.ts'
import {
  countDeliveries,
  findDelivery,
  listDeliveries,
  replayAfter,
  replayDelivery,
  replayUndelivered,
  type DeliveryRow,
} from '../../../db/webhooks/deliveries.ts'
import {
  deleteWebhook,
  findWebhook,
  findWebhookPosition,
  insertWebhook,
  listWebhooks,
  rotateWebhookSecret,
  type WebhookChange,
  type WebhookRow,
  type WebhookWithSecret,
} from '../../../db/webhooks/webhooks.ts'
import { openSecret, sealSecret } from '../../../db/webhooks/sealing.ts'
import { SealError, type SealingKeys } from '../../../lib/sealing/sealing-keys.ts'
import { AddressError } from '../../../lib/outbound/errors.ts'
import type { Pool } from '../../../db/pool.ts'
import type { Outbound } from '../../../lib/outbound/outbound.ts'
import type { Caller } from '../../accounts/context.ts'
import { isUuid } from '../../../lib/http/validation/compile.ts'
import { parseTime } from '../../../lib/http/validation/time.ts'
import { countTotal, resolveCursor, type CountedPageQuery, type PageQuery } from '../../../lib/http/page.ts'
import { defaultEvents, type Replay, type WebhookCreate } from './schema.ts'

/** What creating webhooks needs. */
export interface WebhookDeps {
  pool: Pool
  /** Checks the addresses of webhooks. */
  webhooks: Pick<Outbound, 'check'>
  /** The keys with which the database stores the secrets of webhooks. */
  sealingKeys: SealingKeys
}

// Every change of an entity is matched with each of them.
const maxWebhooks = 100

/** A webhook and its entity. */
interface WebhookAddress {
  entity: string
  id: string
}

/**
 * Creates a webhook. A repeated request gets the webhook of the first one, with the same secret.
 *
 * @throws {HttpError} 422 for an address that must not be requested, 409 if the entity has too many webhooks
 */
export async function createWebhook(
  { pool, webhooks, sealingKeys }: WebhookDeps,
  { caller, newId }: { caller: Caller; newId: () => string },
  wanted: WebhookCreate,
): Promise<WebhookWithSecret> {
  requireOpen(() => webhooks.check(wanted.url))
  requireKey(sealingKeys)
  const { entity, keyId } = caller
  const { url, project = null, description = null } = wanted
  const events = [...new Set(wanted.events ?? defaultEvents)]
  const context = { id: newId(), entity }
  const sealedSecret = sealSecret(sealingKeys, formatSecret(randomBytes(32)), context)
  const webhook = { ...context, keyId, url, events, project, description, sealedSecret }
  const made = await insertWebhook(pool, webhook, maxWebhooks)
  if (made) return made
  throw new HttpError(errors.conflict, `An entity has at most ${maxWebhooks} webhooks; delete one first.`)
}

export async function getWebhook(pool: Pool, { entity, id }: WebhookAddress): Promise<WebhookRow> {
  const webhook = isUuid(id) ? await findWebhook(pool, entity, id) : undefined
  if (!webhook) throw notFound('Webhook')
  return webhook
}

/** Lists one webhook more than the limit, which shows whether more follow. */
export async function listEntityWebhooks(
  pool: Pool,
  entity: string,
  { after, limit }: PageQuery,
): Promise<WebhookRow[]> {
  const position = await resolveCursor(after, (id) => findWebhookPosition(pool, entity, id))
  return listWebhooks(pool, entity, { after: position, limit: limit + 1 })
}

export async function removeWebhook(pool: Pool, webhook: WebhookChange): Promise<void> {
  if (!isUuid(webhook.id) || !(await deleteWebhook(pool, webhook))) throw notFound('Webhook')
}

/**
 * Rotates a webhook's secret. A repeated request gets the secret of the first one. A secret that cannot be opened is
 * replaced too.
 */
export async function rotateSecret(
  { pool, sealingKeys }: WebhookDeps,
  changed: WebhookChange,
  newId: () => string,
): Promise<WebhookWithSecret> {
  requireKey(sealingKeys)
  const secret = formatSecret(sealingKeys.derive(`secret ${newId()}`))
  const reseal = (webhook: WebhookWithSecret) =>
    isSecret(sealingKeys, webhook, secret) ? undefined : sealSecret(sealingKeys, secret, webhook)
  const webhook = isUuid(changed.id) ? await rotateWebhookSecret(pool, changed, reseal) : undefined
  if (!webhook) throw notFound('Webhook')
  return webhook
}

/** Lists one delivery more than the limit, which shows whether more follow. */
export async function listWebhookDeliveries(
  pool: Pool,
  address: WebhookAddress,
  { after, limit, max_total: maxTotal }: CountedPageQuery,
): Promise<{ rows: DeliveryRow[]; total: number | undefined }> {
  const { id } = await getWebhook(pool, address)
  const cursor = await resolveCursor(after, (delivery) => findDelivery(pool, id, delivery))
  const rows = await listDeliveries(pool, id, { before: cursor?.position, limit: limit + 1 })
  return { rows, total: await countTotal(maxTotal, (max) => countDeliveries(pool, id, max)) }
}

/** Sends one delivery again, whatever its state. */
export async function replayOne(pool: Pool, address: WebhookAddress, deliveryId: string): Promise<DeliveryRow> {
  const { id } = await getWebhook(pool, address)
  if (isUuid(deliveryId)) await replayDelivery(pool, id, deliveryId)
  const delivery = isUuid(deliveryId) ? await findDelivery(pool, id, deliveryId) : undefined
  if (!delivery) throw notFound('Delivery')
  return delivery
}

/** Sends everything after a position or a time again. Without either, sends what was not delivered. */
export async function replayMany(pool: Pool, address: WebhookAddress, wanted: Replay): Promise<number> {
  const { id } = await getWebhook(pool, address)
  const at = typeof wanted.after === 'string' ? parseTime(wanted.after)! : null
  const position = wanted.after_position ?? null
  if (at === null && position === null) return replayUndelivered(pool, id)
  // The newest changes have no position yet.
  while ((await numberOutbox(pool)) > 0);
  return replayAfter(pool, id, { position: position ?? 0, at })
}

function requireOpen(check: () => unknown): void {
  try {
    check()
  } catch (error) {
    if (!(error instanceof AddressError)) throw error
    throw unprocessable(valueError(['body', 'url'], error.message))
  }
}

/** @throws {HttpError} 503 without a key */
function requireKey(keys: SealingKeys): void {
  if (!keys.canSeal) throw new HttpError(errors.webhook_key_missing)
}

function isSecret(keys: SealingKeys, webhook: WebhookWithSecret, secret: string): boolean {
  try {
    return openSecret(keys, webhook.sealedSecret, webhook) === secret
  } catch (error) {
    if (error instanceof SealError) return false
    throw error
  }
}

/** The prefix shows what it is if it leaks. It is too long to be guessed. */
function formatSecret(bytes: Buffer): string {
  return `whsec_${bytes.toString('base64url')}`
}
