import type { Slots } from '../accounts/limits/slots.ts'
import type { RevocableResponses } from '../accounts/keys/revocable-responses.ts'
import type { RequestContext } from '../accounts/context.ts'

/** Takes one of the places of the entity's chats, until the answer is out or the client has left. */
export function holdPlace(ctx: RequestContext, chatSlots: Slots): void {
  chatSlots.hold(ctx, ctx.state.limits.concurrentStreams)
}

/** Aborted when the client leaves before it has its answer, or its key ends, so that no engine works for nobody. */
export function watchClient(ctx: RequestContext, responses: RevocableResponses): AbortSignal {
  const left = new AbortController()
  const end = () => {
    if (!ctx.res.writableFinished) left.abort()
  }
  ctx.res.once('close', end)
  if (ctx.res.closed) end()
  return AbortSignal.any([left.signal, responses.track(ctx.state.caller.keyId, ctx.res)])
}
