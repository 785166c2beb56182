import type { IncomingMessage, ServerResponse } from 'node:http'
import { Exchange } from '../../lib/http/exchange.ts'
import type { HttpMeter, InFlight, RouteMeter } from '../../lib/metrics/http-meter.ts'
import { runRequest } from '../../lib/request-scope.ts'
import { logRequest } from '../../lib/http/request-log.ts'
import { endStalledAnswer, followUnsent, type AnswerTimes } from '../../lib/http/stalled-answers.ts'
import type { RequestState } from '../accounts/context.ts'
import { authenticate, type AuthDeps } from '../accounts/keys/authenticate.ts'
import { readBearer, requireRole } from '../accounts/keys/require-key.ts'
import type { RevocableResponses } from '../accounts/keys/revocable-responses.ts'
import type { RequestLimiter } from '../accounts/limits/request-limiter.ts'
import type { RequestMemory } from '../accounts/limits/request-memory.ts'
import type { Slots } from '../accounts/limits/slots.ts'
import { readProject } from '../accounts/usage/project-header.ts'
import { toHttpError } from '../errors/answer-errors.ts'
import { presentForClient } from '../errors/present.ts'
import { beginTrace, followReply, type BegunTrace, type ChatTraces } from './chat-traces.ts'
import { askEngine, type AskDeps } from './ask-engine.ts'
import { readWhole } from './chat.ts'
import { brokenOff } from './engines/read-engine.ts'
import { isConnectionFailure } from './engines/transport.ts'
import { setLimitHeaders } from './limit-headers.ts'
import type { Passthrough } from './passthrough.ts'
import { isEventStream, type EngineReply } from './reply/engine-reply.ts'
import { passComplete } from './reply/pass-complete.ts'
import { passEvents } from './reply/pass-events.ts'
import type { GroupName } from '../groups.ts'
import { readRequest, type ReadDeps } from './read-request.ts'

/** What the gateway needs to answer requests. */
export interface GatewayDeps extends AskDeps, AuthDeps, ReadDeps {
  chatSlots: Slots
  memory: RequestMemory
  requestLimiter: RequestLimiter
  responses: RevocableResponses
}

type Deps = GatewayDeps & { traces: ChatTraces; meter: HttpMeter }

/** An operation with its counts. */
interface MeteredOperation {
  operation: Passthrough
  meter: RouteMeter
}

interface Asking {
  state: RequestState
  project: string | undefined
  trace: BegunTrace | undefined
}

const group: GroupName = 'inference'

/**
 * Answers the requests that it passes on to engines, before Koa. All work on such a request happens here, from its
 * first line to the last byte of its response.
 */
export class Gateway {
  readonly #deps: Deps
  readonly #times: AnswerTimes
  readonly #operations: ReadonlyMap<string, MeteredOperation>
  readonly #inFlight: InFlight

  constructor(deps: Deps, operations: readonly Passthrough[], times: AnswerTimes) {
    this.#deps = deps
    this.#times = times
    this.#inFlight = deps.meter.inFlightOf(group)
    this.#operations = new Map(
      operations.map((operation) => {
        const meter = deps.meter.routeOf({ group, method: 'POST', route: operation.path })
        return [operation.path, { operation, meter }]
      }),
    )
  }

  /** Answers a request. Returns false if the gateway does not serve its path. */
  answer(req: IncomingMessage, res: ServerResponse): boolean {
    if (req.method !== 'POST') return false
    const target = req.url ?? ''
    const known = this.#operations.get(target)
    const path = known ? target : readPath(target)
    const found = known ?? this.#operations.get(path.replace(/\/$/, '').toLowerCase())
    if (!found) return false
    const exchange = new Exchange(req, res, path)
    void runRequest(exchange.requestId, () => this.#answer(exchange, found))
    return true
  }

  async #answer(exchange: Exchange, { operation, meter }: MeteredOperation): Promise<void> {
    const { log } = this.#deps
    const { requestId, startMs, path, res } = exchange
    this.#inFlight.count++
    exchange.whenClosed(() => {
      this.#inFlight.count--
      meter.recordAnswer(res, startMs)
      logRequest(log, { method: 'POST', path, requestId, startMs }, res)
    })
    try {
      const reply = await this.#ask(exchange, operation)
      await this.#passReply(exchange, reply)
    } catch (error) {
      this.#answerError(exchange, error)
    }
  }

  async #ask(exchange: Exchange, operation: Passthrough): Promise<EngineReply> {
    const deps = this.#deps
    const found = authenticate(deps, exchange, readBearer(exchange))
    const state = found instanceof Promise ? await found : found
    try {
      return await this.#askAs(exchange, operation, state)
    } finally {
      setLimitHeaders(exchange, deps, state)
    }
  }

  async #askAs(exchange: Exchange, operation: Passthrough, state: RequestState): Promise<EngineReply> {
    const deps = this.#deps
    const { caller, limits } = state
    const taking = deps.requestLimiter.take(caller.entity, limits.requestsPerMinute)
    if (taking) await taking
    requireRole(caller, 'read')
    const { concurrentStreams } = limits
    exchange.whenClosed(deps.chatSlots.take(caller.entity, concurrentStreams))
    const project = readProject(exchange, caller.entity)
    const { tracedAs } = operation
    const trace = tracedAs && beginTrace(deps.traces, exchange, { operation: tracedAs, state, project })
    try {
      const reply = await this.#read(exchange, operation, { state, project, trace })
      if (trace) followReply(trace, exchange, reply)
      return reply
    } catch (error) {
      trace?.abandon()
      throw error
    }
  }

  /** Reserves memory for a request until its response is sent and its handler has ended. */
  async #read(
    exchange: Exchange,
    operation: Passthrough,
    { state: { caller }, project, trace }: Asking,
  ): Promise<EngineReply> {
    const deps = this.#deps
    const { client } = exchange
    const memory = deps.memory.reserve(caller.entity)
    try {
      const request = await readRequest(
        deps,
        { exchange, operation },
        { entity: caller.entity, memory, keep: trace?.keepRequest },
      )
      const unfollow = deps.responses.follow(caller, () => exchange.breakOff())
      exchange.whenClosed(unfollow)
      return await askEngine(deps, { caller, project, memory, client }, request)
    } finally {
      exchange.whenClosed(() => memory.release())
    }
  }

  async #passReply(exchange: Exchange, reply: EngineReply): Promise<void> {
    const { log } = this.#deps
    if (isEventStream(reply.response)) {
      endStalledAnswer(exchange.res, this.#times)
      passEvents(reply, exchange, (error) => {
        log.warn({ error }, 'engine broke off a stream')
        const answered = isConnectionFailure(error) ? brokenOff() : toHttpError(error, log)
        return presentForClient(answered, exchange.path)
      })
      return
    }
    if (await passComplete(reply, exchange, this.#times)) return
    const whole = Buffer.from(await readWhole(reply))
    reply.tap?.(whole)
    exchange.sendJson(200, whole)
    followUnsent(exchange.res, this.#times)
  }

  #answerError(exchange: Exchange, error: unknown): void {
    const { req, res, path } = exchange
    // The client has left. It cannot read a response.
    if (req.socket.destroyed || res.headersSent) return void res.destroy()
    const answered = toHttpError(error, this.#deps.log)
    for (const [name, value] of Object.entries(answered.headers)) exchange.set(name, value)
    const answer = JSON.stringify(presentForClient(answered, path))
    exchange.sendJson(answered.status, Buffer.from(answer))
    followUnsent(res, this.#times)
  }
}

/** The path of a request's target. The target may contain a query, or be a whole URL. */
function readPath(target: string): string {
  const path = target.startsWith('/') ? target : target.replace(/^[a-z]+:\/\/[^/?#]*/i, '')
  const end = path.search(/[?#]/)
  return end === -1 ? path : path.slice(0, end)
}
