import { Readable } from 'node:stream'
import { ClientWatch } from '../../lib/http/client-watch.ts'
import type { RevocableResponses } from '../accounts/keys/revocable-responses.ts'
import type { RequestContext } from '../accounts/context.ts'

/**
 * Watches the client of a request. It also counts as having left when its key is revoked; then the response is cut off. The
 * engine stops working on a response that cannot be read.
 */
export function watchClient({ state, res }: RequestContext, responses: RevocableResponses): ClientWatch {
  const client = new ClientWatch()
  const unfollow = responses.follow(state.caller, () => {
    client.leave()
    res.destroy()
  })
  const close = () => {
    unfollow()
    if (res.writableFinished) client.end()
    else client.leave()
  }
  if (res.closed) close()
  else res.once('close', close)
  return client
}

/** Sends events as they come, at the client's pace. An error cuts the response off. */
export function sendEvents(ctx: RequestContext, events: AsyncIterable<string | Buffer>): void {
  ctx.type = 'text/event-stream; charset=utf-8'
  // Proxies must not buffer events.
  ctx.set({ 'Cache-Control': 'no-cache', 'X-Accel-Buffering': 'no' })
  ctx.body = Readable.from(events, { objectMode: false })
}
