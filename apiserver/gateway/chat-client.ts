import type { Deps } from '../deps.ts'
import type { RequestContext } from '../middleware/context.ts'

/**
 * Takes one of the places of the entity's chats, until the answer is out or the client has left.
 *
 * @returns aborted when the client leaves before it has its answer
 */
export function holdPlace(ctx: RequestContext, { chatSlots }: Pick<Deps, 'chatSlots'>): AbortSignal {
  const giveBack = chatSlots.take(ctx.state.caller.entity, ctx.state.limits.concurrentStreams)
  const left = new AbortController()
  const end = () => {
    giveBack()
    if (!ctx.res.writableFinished) left.abort()
  }
  ctx.res.once('close', end)
  if (ctx.res.closed) end()
  return left.signal
}

/** Aborted when the client has `left`, or its key ends, so that no engine works for nobody. */
export function watchClient(
  ctx: RequestContext,
  { openAnswers }: Pick<Deps, 'openAnswers'>,
  left: AbortSignal,
): AbortSignal {
  return AbortSignal.any([left, openAnswers.follow(ctx.state.caller.keyId, ctx.res)])
}
