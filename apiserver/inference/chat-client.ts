import { ClientWatch } from '../../lib/http/client-watch.ts'
import type { Slots } from '../accounts/limits/slots.ts'
import type { RevocableResponses } from '../accounts/keys/revocable-responses.ts'
import type { RequestContext } from '../accounts/context.ts'

/** Takes one of the entity's slots for concurrent chats, until the response is sent or the client has left. */
export function holdPlace(ctx: RequestContext, chatSlots: Slots): void {
  chatSlots.hold(ctx, ctx.state.limits.concurrentStreams)
}

/**
 * Returns a watch of the client. It also counts as having left when its key is revoked. The engine then stops working
 * on a response that cannot be read.
 */
export function watchClient(ctx: RequestContext, responses: RevocableResponses): ClientWatch {
  const client = new ClientWatch()
  const end = () => {
    if (!ctx.res.writableFinished) client.leave()
  }
  ctx.res.once('close', end)
  if (ctx.res.closed) end()
  responses.track(ctx.state.caller, ctx.res).addEventListener('abort', () => client.leave())
  return client
}
