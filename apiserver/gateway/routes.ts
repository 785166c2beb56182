import type { Router } from '@koa/router'
import { listBaseModels } from '../../db/queries/base-models.ts'
import { listModels } from '../../db/queries/models.ts'
import type { Deps } from '../deps.ts'
import { readJson } from '../middleware/body.ts'
import type { RequestContext, RequestState } from '../middleware/context.ts'
import { completeChat } from './chat.ts'
import { presentModelList } from './present.ts'

// A prompt of a million tokens is a few megabytes.
const bodyLimitBytes = 16 * 1024 * 1024
// Clients read this list as one page.
const listLimit = 10_000

export function routeGateway(router: Router<RequestState>, deps: Deps): void {
  router.post('/v1/chat/completions', async (ctx) => {
    const document = await readJson(ctx, bodyLimitBytes)
    const reply = await completeChat(deps, ctx.state.entity, document, watchClient(ctx))
    if (reply.kind === 'complete') {
      ctx.type = 'application/json'
      ctx.body = Buffer.from(reply.bytes)
      return
    }
    ctx.type = 'text/event-stream; charset=utf-8'
    // Proxies must not gather events.
    ctx.set({ 'Cache-Control': 'no-cache', 'X-Accel-Buffering': 'no' })
    ctx.body = reply.events
  })

  router.get('/v1/models', async (ctx) => {
    const [baseModels, models] = await Promise.all([
      listBaseModels(deps.pool),
      listModels(deps.pool, ctx.state.entity, listLimit),
    ])
    ctx.body = presentModelList(baseModels, models)
  })
}

/** Aborted when the client leaves before it has its answer, so that no engine works for nobody. */
function watchClient(ctx: RequestContext): AbortSignal {
  const left = new AbortController()
  ctx.res.once('close', () => {
    if (!ctx.res.writableFinished) left.abort()
  })
  return left.signal
}
