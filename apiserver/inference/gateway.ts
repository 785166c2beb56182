import type { ClientWatch } from '../../lib/http/client-watch.ts'
import type { AnswerTimes } from '../../lib/http/stalled-answers.ts'
import type { RequestContext } from '../accounts/context.ts'
import type { RevocableResponses } from '../accounts/keys/revocable-responses.ts'
import { setLimitHeaders, type MinuteLimiters } from '../accounts/limits/limit-requests.ts'
import type { RequestMemory } from '../accounts/limits/request-memory.ts'
import { readProject } from '../accounts/usage/project-header.ts'
import { toHttpError } from '../errors/answer-errors.ts'
import { presentForClient } from '../errors/present.ts'
import { askEngine, type AskDeps } from './ask-engine.ts'
import { readEvents } from './chat.ts'
import { sendEvents, watchClient } from './chat-client.ts'
import { beginTrace, followReply, type ChatTraces } from './chat-traces.ts'
import { brokenOff } from './engines/read-engine.ts'
import { isConnectionFailure } from './engines/transport.ts'
import type { Passthrough } from './passthrough.ts'
import { isEventStream, type EngineReply } from './reply/engine-reply.ts'
import { passComplete } from './reply/pass-complete.ts'
import { readRequest, type ReadDeps } from './read-request.ts'

/** What the gateway needs to answer requests. */
export interface GatewayDeps extends AskDeps, MinuteLimiters, ReadDeps {
  answerTimes: AnswerTimes
  memory: RequestMemory
  responses: RevocableResponses
  traces: ChatTraces
}

/** Handles the requests of an operation by passing them on to engines. */
export function passRequests(deps: GatewayDeps, passthrough: Passthrough) {
  return async ({ ctx }: { ctx: RequestContext }): Promise<void> => {
    const client = watchClient(ctx, deps.responses)
    await passReply(deps, ctx, { client, reply: await ask(deps, ctx, { client, passthrough }) })
    setLimitHeaders(ctx, deps)
  }
}

async function ask(
  deps: GatewayDeps,
  ctx: RequestContext,
  { client, passthrough }: { client: ClientWatch; passthrough: Passthrough },
): Promise<EngineReply> {
  const { caller } = ctx.state
  const project = readProject(ctx, caller.entity)
  const { tracedAs } = passthrough
  const trace = tracedAs && beginTrace(deps.traces, ctx, { operation: tracedAs, state: ctx.state, project })
  try {
    const memory = deps.memory.open(ctx)
    const request = await readRequest(deps, { ctx, passthrough, memory, keep: trace?.keepRequest })
    const reply = await askEngine(deps, { caller, project, memory, client }, request)
    if (trace) followReply(trace, ctx, { client, reply })
    return reply
  } catch (error) {
    trace?.abandon()
    throw error
  }
}

/** Passes a reply on. A stream that is cut off ends with an event that contains the error. */
async function passReply(
  { answerTimes, log }: GatewayDeps,
  ctx: RequestContext,
  { client, reply }: { client: ClientWatch; reply: EngineReply },
): Promise<void> {
  if (!isEventStream(reply.response)) return passComplete(ctx, reply, answerTimes)
  const events = readEvents(reply, (error) => {
    if (client.hasLeft) throw error
    log.warn({ error }, 'engine broke off a stream')
    return presentForClient(isConnectionFailure(error) ? brokenOff() : toHttpError(error, log), ctx.path)
  })
  sendEvents(ctx, events)
}
