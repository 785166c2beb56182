import { Type } from 'typebox'
import { listBaseModels } from '../../db/base-models/base-models.ts'
import type { Pool } from '../../db/pool.ts'
import { listModels } from '../../db/models/models.ts'
import type { RestApi } from '../accounts/rest-api.ts'
import { chatCompletionSchema, modelItemSchema, modelListSchema } from './answers.ts'
import { chatRequestSchema } from './chat/chat-schema.ts'
import { chatPassthrough } from './chat/passthrough.ts'
import { completionPassthrough, declareCompletions } from './completions/routes.ts'
import { declareEmbeddings, embeddingPassthrough } from './embeddings/routes.ts'
import { findModelItem } from './models/find-item.ts'
import { presentModelList } from './present.ts'
import { declareTokens, tokenPassthroughs } from './tokens/routes.ts'

// Clients read this list as one page.
const listLimit = 10_000

/** Operations whose requests are passed to engines. `Gateway` answers them before Koa. */
export const passthroughs = [chatPassthrough, completionPassthrough, embeddingPassthrough, ...tokenPassthroughs]

export function routeGateway(api: RestApi, pool: Pool): void {
  api.declare('post', chatPassthrough.path, {
    tag: 'Inference',
    summary: 'Complete a chat',
    role: 'read',
    streamedBody: { 'application/json': chatRequestSchema },
    answer: chatCompletionSchema,
    otherAnswers: { 'text/event-stream': Type.String() },
    errorStatuses: [400],
  })
  declareCompletions(api)
  declareEmbeddings(api)
  declareTokens(api)

  api.get(
    '/v1/models',
    { tag: 'Inference', summary: 'List the model names that chats can use', answer: modelListSchema },
    async ({ caller }) => {
      const [baseModels, models] = await Promise.all([listBaseModels(pool), listModels(pool, caller.entity, listLimit)])
      return presentModelList(baseModels, models)
    },
  )

  api.get(
    '/v1/models/{model*}',
    {
      tag: 'Inference',
      summary: 'Find a model by a name that chats can use',
      description: 'Slashes and colons in the name may be percent-encoded. The id in the answer is the requested name.',
      answer: modelItemSchema,
    },
    ({ caller, params }) => findModelItem(pool, caller.entity, params.model),
  )
}
