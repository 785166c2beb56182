import { Type } from 'typebox'
import { listBaseModels } from '../../db/base-models/base-models.ts'
import { listModels } from '../../db/models/models.ts'
import type { Slots } from '../accounts/limits/slots.ts'
import type { RevocableResponses } from '../accounts/keys/revocable-responses.ts'
import type { RestApi } from '../accounts/rest-api.ts'
import { turnOf } from '../accounts/limits/turn.ts'
import { readProject } from '../accounts/usage/project-header.ts'
import { chatCompletionSchema, modelListSchema } from './answers.ts'
import { holdPlace, watchClient } from './chat-client.ts'
import { chatRequestSchema } from './chat-schema.ts'
import { completeChat, type ChatDeps } from './chat.ts'
import { presentModelList } from './present.ts'
import { readChat, type ChatReadDeps } from './read-chat.ts'

/** What the gateway answers with. */
export interface GatewayDeps extends ChatDeps, ChatReadDeps {
  chatSlots: Slots
  responses: RevocableResponses
}

// Clients read this list as one page.
const listLimit = 10_000

export function routeGateway(api: RestApi, deps: GatewayDeps): void {
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
    },
    async ({ ctx, caller }) => {
      holdPlace(ctx, deps.chatSlots)
      const project = readProject(ctx)
      const memory = deps.memory.open(ctx)
      const chat = await readChat(deps, ctx)
      const call = { caller, turn: turnOf(ctx.state.caller), project, memory, signal: watchClient(ctx, deps.responses) }
      const reply = await completeChat(deps, call, chat)
      if (reply.kind === 'complete') {
        ctx.type = 'application/json'
        ctx.body = Buffer.from(reply.bytes.buffer, reply.bytes.byteOffset, reply.bytes.byteLength)
        return
      }
      ctx.type = 'text/event-stream; charset=utf-8'
      // What holds the request, and the stream's own pipeline, wait for its end.
      ctx.res.setMaxListeners(20)
      // Proxies must not gather events.
      ctx.set({ 'Cache-Control': 'no-cache', 'X-Accel-Buffering': 'no' })
      ctx.body = reply.events
    },
  )

  api.get(
    '/v1/models',
    { tag: 'Inference', summary: 'List the model names that chats can use', answer: modelListSchema },
    async ({ caller }) => {
      const [baseModels, models] = await Promise.all([
        listBaseModels(deps.pool),
        listModels(deps.pool, caller.entity, listLimit),
      ])
      return presentModelList(baseModels, models)
    },
  )
}
