import { Type } from 'typebox'
import { listBaseModels } from '../../db/base-models/base-models.ts'
import type { Pool } from '../../db/pool.ts'
import { listModels } from '../../db/models/models.ts'
import type { RestApi } from '../accounts/rest-api.ts'
import { chatCompletionSchema, modelItemSchema, modelListSchema } from './completion-schemas.ts'
import { chatRequestSchema } from './chat/chat-schema.ts'
import { chatPassthrough } from './chat/passthrough.ts'
import { routeCompletions } from './completions/routes.ts'
import { routeEmbeddings } from './embeddings/routes.ts'
import { passRequests, type GatewayDeps } from './gateway.ts'
import { findModelItem } from './models/find-item.ts'
import { presentModelList } from './present.ts'
import { routeTokens } from './tokens/routes.ts'

// Clients read this list as one page.
const listLimit = 10_000

export function routeGateway(api: RestApi, deps: GatewayDeps, pool: Pool): void {
  api.post(
    '/v1/chat/completions',
    {
      tag: 'Inference',
      summary: 'Complete a chat',
      role: 'read',
      streamedBody: { 'application/json': chatRequestSchema },
      answer: chatCompletionSchema,
      otherAnswers: { 'text/event-stream': Type.String() },
      errorStatuses: [400],
      cost: { permit: 'concurrent_streams' },
    },
    passRequests(deps, chatPassthrough),
  )
  routeCompletions(api, deps)
  routeEmbeddings(api, deps)
  routeTokens(api, deps)

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
