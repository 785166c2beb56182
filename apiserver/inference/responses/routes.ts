import { Type } from 'typebox'
import { notFound } from '../../../lib/http/http-error.ts'
import { listOf } from '../../../lib/http/page.ts'
import { deleteResponse, findResponse } from '../../../db/responses/responses.ts'
import type { Pool } from '../../../db/pool.ts'
import type { RequestContext } from '../../accounts/context.ts'
import type { RestApi } from '../../accounts/rest-api.ts'
import { readProject } from '../../accounts/usage/project-header.ts'
import { sendEvents, watchClient } from '../chat-client.ts'
import type { GatewayDeps } from '../gateway.ts'
import { setLimitHeaders } from '../../accounts/limits/limit-requests.ts'
import { deletedResponseSchema, inputItemSchema, responseSchema } from './response-schemas.ts'
import { completeResponse } from './complete.ts'
import { inputItemsQuery, presentInputItems } from './input-items.ts'
import { readResponseRequest } from './prepare.ts'
import { beginResponseTrace } from './response-trace.ts'
import { responseRequestSchema } from './schema.ts'
import { ResponseStore } from './store.ts'
import { streamResponse } from './stream.ts'

const tag = 'Inference'
const path = '/v1/responses/{response_id}'

/** The Responses API, the newer interface of OpenAI's clients. Each response is created with a chat. */
export function routeResponses(api: RestApi, gateway: GatewayDeps & { pool: Pool }): void {
  const deps = { ...gateway, stored: new ResponseStore(gateway.pool) }

  api.post(
    '/v1/responses',
    {
      tag,
      summary: 'Create a response',
      description:
        'Unless `store` is false, the response can be read again and continued (`previous_response_id`) for 30 days ' +
        'after the last response of its conversation.',
      role: 'read',
      streamedBody: { 'application/json': responseRequestSchema },
      answer: responseSchema,
      otherAnswers: { 'text/event-stream': Type.String() },
      errorStatuses: [400],
      cost: { permit: 'concurrent_streams' },
    },
    async ({ ctx }) => {
      const response = await respond(ctx)
      setLimitHeaders(ctx, deps)
      return response
    },
  )

  api.get(path, { tag, summary: 'Read a stored response', answer: responseSchema }, async ({ caller, params }) => {
    const { response } = await findOwn(params.response_id, caller.entity)
    return response
  })

  api.get(
    `${path}/input_items`,
    {
      tag,
      summary: 'List the items of the input of a stored response',
      query: inputItemsQuery,
      answer: listOf(inputItemSchema),
    },
    async ({ caller, params, query }) =>
      presentInputItems((await findOwn(params.response_id, caller.entity)).input, query),
  )

  api.delete(
    path,
    { tag, summary: 'Delete a stored response', answer: deletedResponseSchema },
    async ({ caller, params }) => {
      const id = params.response_id
      if (id.includes('\0') || !(await deleteResponse(deps.pool, caller.entity, id))) throw notFound('Response', id)
      return { id, object: 'response' as const, deleted: true as const }
    },
  )

  async function respond(ctx: RequestContext): Promise<string | void> {
    const { caller } = ctx.state
    const [project, memory] = [readProject(ctx, caller.entity), deps.memory.open(ctx)]
    const client = watchClient(ctx, deps.responses)
    const trace = beginResponseTrace(deps.traces, ctx, { project, client })
    try {
      const prepared = await readResponseRequest(deps, ctx, trace)
      const call = { caller, project, memory, client }
      if (prepared.request.stream !== true) return await completeResponse(deps, call, prepared)
      return sendEvents(ctx, await streamResponse(deps, call, prepared))
    } catch (error) {
      trace?.fail()
      throw error
    }
  }

  async function findOwn(id: string, entity: string) {
    const found = id.includes('\0') ? undefined : await findResponse(deps.pool, entity, id)
    if (!found) throw notFound('Response', id)
    return found
  }
}
