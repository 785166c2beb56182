import type { Pool } from '../../../db/pool.ts'
import type { RestApi } from '../../accounts/rest-api.ts'
import { countedListOf, countedPageQuery, listOf, pageQuery, presentPage, withTotal } from '../../../lib/http/page.ts'
import { presentDelivery, presentWebhook } from './present.ts'
import { openAnswer, sealAnswer } from './secret-answers.ts'
import {
  deletedWebhookSchema,
  deliverySchema,
  newWebhookSchema,
  replayedSchema,
  replaySchema,
  webhookCreateSchema,
  webhookSchema,
} from './schema.ts'
import {
  createWebhook,
  getWebhook,
  listEntityWebhooks,
  listWebhookDeliveries,
  removeWebhook,
  replayMany,
  replayOne,
  rotateSecret,
  type WebhookDeps,
} from './service.ts'

const tag = 'Webhooks'
// An address may contain a token, so keys of the role read do not see it.
const reading = { tag, role: 'member' } as const
const changing = { tag, role: 'admin' } as const
const one = '/v1/preview/webhooks/{webhook_id}'

export function routeWebhooks(api: RestApi, deps: WebhookDeps): void {
  routeEach(api, deps)
  const { sealingKeys: keys } = deps
  routeDeliveries(api, deps.pool)

  api.post(
    '/v1/preview/webhooks',
    {
      ...changing,
      summary: 'Create a webhook for the ends of training jobs',
      description: 'Deliveries are signed with the secret. Only this answer contains it.',
      body: webhookCreateSchema,
      answer: newWebhookSchema,
      errorStatuses: [409],
      // The stored answer must not contain the secret as plain text.
      idempotent: 'handler',
    },
    async ({ caller, newId, body, answerOnce }) => {
      const create = async () => sealAnswer(await createWebhook(deps, { caller, newId }, body))
      return openAnswer(keys, await answerOnce(create), caller.entity)
    },
  )

  api.get(
    '/v1/preview/webhooks',
    { ...reading, summary: "List the entity's webhooks", query: pageQuery, answer: listOf(webhookSchema) },
    async ({ caller, query }) =>
      presentPage(await listEntityWebhooks(deps.pool, caller.entity, query), query.limit, presentWebhook),
  )
}

function routeEach(api: RestApi, deps: WebhookDeps): void {
  const { pool, sealingKeys: keys } = deps
  api.get(one, { ...reading, summary: 'Get a webhook', answer: webhookSchema }, async ({ caller, params }) =>
    presentWebhook(await getWebhook(pool, { entity: caller.entity, id: params.webhook_id })),
  )

  api.delete(
    one,
    { ...changing, summary: 'Delete a webhook with its deliveries', answer: deletedWebhookSchema },
    async ({ caller, params }) => {
      const id = params.webhook_id
      await removeWebhook(pool, { entity: caller.entity, id, by: caller.keyId })
      return { id: id.toLowerCase(), deleted: true as const }
    },
  )

  api.post(
    `${one}/rotate-secret`,
    {
      ...changing,
      summary: 'Rotate the secret of a webhook',
      description: 'For one day deliveries are signed with both secrets, in one header.',
      answer: newWebhookSchema,
      idempotent: 'handler',
    },
    async ({ caller, params, newId, answerOnce }) => {
      const webhook = { entity: caller.entity, id: params.webhook_id, by: caller.keyId }
      const rotate = async () => sealAnswer(await rotateSecret(deps, webhook, newId))
      return openAnswer(keys, await answerOnce(rotate), caller.entity)
    },
  )

  api.post(
    `${one}/replay`,
    {
      ...changing,
      summary: 'Deliver events again: those after a time or a position, or those that were not delivered',
      body: replaySchema,
      bodyOptional: true,
      answer: replayedSchema,
    },
    async ({ caller, params, body }) => {
      const address = { entity: caller.entity, id: params.webhook_id }
      return { replayed: await replayMany(pool, address, body ?? {}) }
    },
  )
}

function routeDeliveries(api: RestApi, pool: Pool): void {
  api.get(
    `${one}/deliveries`,
    {
      ...reading,
      summary: "List a webhook's deliveries of the last week, newest first",
      query: countedPageQuery,
      answer: countedListOf(deliverySchema),
    },
    async ({ caller, params, query }) => {
      const address = { entity: caller.entity, id: params.webhook_id }
      const { rows, total } = await listWebhookDeliveries(pool, address, query)
      return withTotal(presentPage(rows, query.limit, presentDelivery), total)
    },
  )

  api.post(
    `${one}/deliveries/{delivery_id}/replay`,
    { ...changing, summary: 'Send a delivery again', answer: deliverySchema },
    async ({ caller, params }) => {
      const address = { entity: caller.entity, id: params.webhook_id }
      return presentDelivery(await replayOne(pool, address, params.delivery_id))
    },
  )
}
