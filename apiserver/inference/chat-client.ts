import { ClientWatch } from '../../lib/http/client-watch.ts'
import type { Slots } from '../accounts/limits/slots.ts'
import type { RevocableResponses } from '../accounts/keys/revocable-responses.ts'
import type { RequestContext } from '../accounts/context.ts'

/** Takes one of the places of the entity's chats, until the answer is out or the client has left. */
export async function holdPlace(ctx: RequestContext, chatSlots: Slots): Promise<void> {
  await chatSlots.hold(ctx, ctx.state.limits.concurrentStreams)
}

/** Tells when the client leaves before it has its answer, or its key ends, so that no engine works for nobody. */
export function watchClient(ctx: RequestContext, responses: RevocableResponses): ClientWatch {
  const client = new ClientWatch()
  const end = () => {
    if (!ctx.res.writableFinished) client.leave()
  }
  ctx.res.once('close', end)
  if (ctx.res.closed) end()
  responses.track(ctx.state.caller.keyId, ctx.res).addEventListener('abort', () => client.leave())
  return client
}
