import { Readable } from 'node:stream'
import type { EventHub } from './hub.ts'
import { currentTurn } from '../../../../lib/request-scope.ts'
import type { RevocableResponses } from '../../../accounts/keys/revocable-responses.ts'
import type { RestApi } from '../../../accounts/rest-api.ts'
import type { RequestContext } from '../../../accounts/context.ts'
import { Type } from 'typebox'
import { unprocessable, valueError } from '../../../../lib/http/http-error.ts'
import { listOf, presentPage } from '../../../../lib/http/page.ts'
import { streamEvents } from './stream.ts'
import { findEvents, listJobEvents, type EventPosition, type EventDeps } from './service.ts'
import { presentEvent } from '../present.ts'
import { eventListQuery, eventSchema } from '../schema.ts'

/** What answering with events needs. */
export interface EventStreamDeps extends EventDeps {
  responses: RevocableResponses
}

const tag = 'Training jobs'
const eventStream = 'text/event-stream'

export function routeJobEvents(api: RestApi, deps: EventStreamDeps): void {
  api.get(
    '/v1/preview/training-jobs/{training_job_id}/events',
    {
      tag,
      summary: "List a training job's events, wait for the next, or follow them as they happen",
      description:
        'With `Accept: text/event-stream`, the events are sent as they happen, until the last one. A new stream ' +
        'continues after the event that `Last-Event-ID` (or `after`) names. Streams and waits (`wait`) count ' +
        'towards the limit `event_streams`, and have the order `asc`.',
      query: eventListQuery,
      answer: listOf(eventSchema),
      otherAnswers: { [eventStream]: Type.String() },
      cost: { permit: 'event_streams', when: (ctx) => acceptsStream(ctx) || Number(ctx.query['wait'] ?? 0) > 0 },
    },
    async ({ ctx, caller, params, query }) => {
      const wantsStream = acceptsStream(ctx)
      const lastEventId = wantsStream ? ctx.get('Last-Event-ID') : ''
      if (query.order === 'desc' && (wantsStream || query.wait))
        throw unprocessable(valueError(['query', 'order'], 'events that are waited for come in the order asc'))
      const wanted = { jobId: params.training_job_id, after: lastEventId || query.after, order: query.order }
      const position = await findEvents(deps.pool, currentTurn(), wanted)
      const left = AbortSignal.any([whenClientLeaves(ctx), deps.responses.track(caller, ctx.res)])
      if (wantsStream) return answerStream(ctx, deps.events, { position, left })
      return presentPage(await listJobEvents(deps, position, { ...query, left }), query.limit, presentEvent)
    },
  )
}

function acceptsStream(ctx: RequestContext): boolean {
  return ctx.accepts('json', eventStream) === eventStream
}

function answerStream(
  ctx: RequestContext,
  events: EventHub,
  { position, left }: { position: EventPosition; left: AbortSignal },
): void {
  // Each part that must know the end of the response adds a listener. Node warns of a leak from eleven listeners on.
  ctx.res.setMaxListeners(20)
  ctx.type = eventStream
  ctx.set({ 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' })
  ctx.body = Readable.from(streamEvents(events, position, left))
}

function whenClientLeaves(ctx: RequestContext): AbortSignal {
  const left = new AbortController()
  ctx.res.once('close', () => left.abort())
  // It emits no further 'close'.
  if (ctx.res.closed) left.abort()
  return left.signal
}
