import { Type } from 'typebox'
import { listBaseModels } from '../../db/queries/base-models.ts'
import { listModels } from '../../db/queries/models.ts'
import type { Deps } from '../deps.ts'
import type { Api } from '../http/api.ts'
import { readJson } from '../middleware/body.ts'
import type { RequestContext } from '../middleware/context.ts'
import { readProject } from '../usage/project-header.ts'
import { chatCompletionSchema, modelListSchema } from './answers.ts'
import { chatRequestSchema } from './chat-schema.ts'
import { completeChat } from './chat.ts'
import { presentModelList } from './present.ts'

// A prompt of a million tokens is a few megabytes.
const bodyLimitBytes = 16 * 1024 * 1024
// Clients read this list as one page.
const listLimit = 10_000

export function routeGateway(api: Api, deps: Deps): void {
  api.post(
    '/v1/chat/completions',
    {
      tag: 'Inference',
      summary: 'Complete a chat',
      role: 'read',
      streamedBody: { 'application/json': chatRequestSchema },
      answer: chatCompletionSchema,
      otherAnswers: { 'text/event-stream': Type.String() },
    },
    async ({ ctx, caller }) => {
      holdPlace(ctx, deps)
      const project = readProject(ctx)
      const document = await readJson(ctx, bodyLimitBytes)
      const reply = await completeChat(deps, { document, caller, project, signal: watchClient(ctx, deps) })
      if (reply.kind === 'complete') {
        ctx.type = 'application/json'
        ctx.body = Buffer.from(reply.bytes)
        return
      }
      ctx.type = 'text/event-stream; charset=utf-8'
      // Proxies must not gather events.
      ctx.set({ 'Cache-Control': 'no-cache', 'X-Accel-Buffering': 'no' })
      ctx.body = reply.events
    },
  )

  api.get(
    '/v1/models',
    { tag: 'Inference', summary: 'List the names that a chat may give as its model', answer: modelListSchema },
    async ({ caller }) => {
      const [baseModels, models] = await Promise.all([
        listBaseModels(deps.pool),
        listModels(deps.pool, caller.entity, listLimit),
      ])
      return presentModelList(baseModels, models)
    },
  )
}

/** Takes one of the places of the entity's chats, until the answer is out or the client has left. */
function holdPlace(ctx: RequestContext, { chatSlots }: Deps): void {
  const giveBack = chatSlots.take(ctx.state.caller.entity, ctx.state.limits.concurrentStreams)
  ctx.res.once('close', giveBack)
  if (ctx.res.closed) giveBack()
}

/** Aborted when the client leaves before it has its answer, or its key ends, so that no engine works for nobody. */
function watchClient(ctx: RequestContext, { openAnswers }: Deps): AbortSignal {
  const left = new AbortController()
  ctx.res.once('close', () => {
    if (!ctx.res.writableFinished) left.abort()
  })
  return AbortSignal.any([left.signal, openAnswers.follow(ctx.state.caller.keyId, ctx.res)])
}
