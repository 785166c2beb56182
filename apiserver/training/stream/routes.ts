import { Readable } from 'node:stream'
import { Type } from 'typebox'
import type { Pool } from '../../../db/pool.ts'
import { invalidCursor } from '../../../lib/http/page.ts'
import type { RequestContext } from '../../accounts/context.ts'
import { authenticate, type AuthDeps } from '../../accounts/keys/authenticate.ts'
import { readBearer } from '../../accounts/keys/require-key.ts'
import type { RevocableResponses } from '../../accounts/keys/revocable-responses.ts'
import type { RestApi } from '../../accounts/rest-api.ts'
import type { ChangeHub } from './hub.ts'
import { parseCursor } from './present.ts'
import { streamChanges } from './stream.ts'
import { readTopics } from './topics.ts'

export interface ChangeStreamDeps extends AuthDeps {
  changeHub: ChangeHub
  pool: Pool
  responses: RevocableResponses
}

const eventStream = 'text/event-stream'

export function routeStream(api: RestApi, deps: ChangeStreamDeps): void {
  api.get(
    '/v1/preview/stream',
    {
      tag: 'Training jobs',
      summary: 'Follow the changes of jobs and models as they happen',
      description:
        'Server-sent events `change`: the new states of jobs, models that are made or deleted, and which events a job has got. ' +
        'Who follows the model or the job also gets these events. A new stream continues after the `id` that `Last-Event-ID` ' +
        '(or `after`) names, for an hour. The event `reset` says that changes are missing: read again what you show. Streams ' +
        'count towards the limit `event_streams`.',
      query: Type.Object({
        topics: Type.String({
          minLength: 1,
          maxLength: 8_192,
          description:
            'up to 50 of `entity`, `project:NAME`, `model:ID` and `job:ID`, separated by commas; a model by its id or name',
        }),
        after: Type.Optional(Type.String({ maxLength: 64 })),
      }),
      otherAnswers: { [eventStream]: Type.String() },
      errorStatuses: [404, 409],
      cost: { permit: 'event_streams' },
    },
    async ({ ctx, caller, query }) => {
      const topics = await readTopics(deps.pool, caller.entity, query.topics)
      const named = ctx.get('Last-Event-ID') || query.after
      const cursor = named === undefined ? undefined : parseCursor(named)
      if (named !== undefined && !cursor) throw invalidCursor()
      const left = AbortSignal.any([whenClientLeaves(ctx), deps.responses.track(caller, ctx.res)])
      ctx.type = eventStream
      ctx.set({ 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' })
      const { changeHub: hub, pool } = deps
      const authorize = () => isStillAllowed(deps, ctx)
      ctx.body = Readable.from(streamChanges({ hub, pool, entity: caller.entity, topics, cursor, left, authorize }))
    },
  )
}

/** A session may have ended, which its key does not show. An outage of the database ends no streams. */
async function isStillAllowed(deps: AuthDeps, ctx: RequestContext): Promise<boolean> {
  try {
    await authenticate(deps, ctx, readBearer(ctx))
    return true
  } catch (error) {
    return !(error instanceof Error && 'status' in error && error.status === 401)
  }
}

function whenClientLeaves({ res }: RequestContext): AbortSignal {
  const left = new AbortController()
  res.once('close', () => left.abort())
  // It emits no further 'close'.
  if (res.closed) left.abort()
  return left.signal
}
