import { HttpError } from '../../lib/http/http-error.ts'
import { errors } from '../errors/table.ts'
import { createHmac } from 'node:crypto'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { Agent, type Dispatcher } from 'undici'
import { engineOrigin } from '../../crds/engine-address.ts'
import { FairSemaphore } from '../../lib/fair-semaphore.ts'
import type { Logger } from '../../lib/log.ts'
import type { Turn } from '../accounts/limits/turn.ts'
import type { EngineBody } from './engine-body.ts'
import type { EnginePod, EnginePods } from './engine-pods.ts'

// An engine that restarts is waited for as long as an interactive client may wait, then the client decides.
const patienceMs = 5_000
const pauseMs = 250
// The chat clients' own limit: a long reply that is not streamed sends nothing until it is complete.
const replyTimeoutMs = 1_200_000
const connectTimeoutMs = 2_000

/** A request to one of the engines of a base model. */
export interface EngineRequest {
  baseModelCrName: string
  /** whose request it is: engines give tenants turns */
  turn: Turn
  path: string
  body: EngineBody
  /** Aborted when the client has left. */
  signal: AbortSignal
}

/** The client of the engines: a pool of connections per pod. */
export class EngineClient {
  readonly #pods: EnginePods
  readonly #engineKey: string
  readonly #log: Logger
  readonly #agent = new Agent({
    headersTimeout: replyTimeoutMs,
    bodyTimeout: replyTimeoutMs,
    connect: { timeout: connectTimeoutMs },
  })
  /** Counts the requests under way by the address of their pod. */
  readonly #inFlight = new FairSemaphore({ permits: Infinity })

  constructor(pods: EnginePods, engineKey: string, log: Logger) {
    this.#pods = pods
    this.#engineKey = engineKey
    this.#log = log
  }

  /**
   * Sends a request to the least busy Ready engine, and to another, or again, when one does not take it.
   *
   * @throws {HttpError} 503 when none took it for some seconds, and when one has taken it and then breaks off
   */
  async post(request: EngineRequest): Promise<Dispatcher.ResponseData> {
    const deadlineMs = performance.now() + patienceMs
    const failed = new Set<string>()
    for (;;) {
      const pod = this.#pickPod(await this.#pods.listReady(request.baseModelCrName), failed)
      const response = pod && (await this.#tryPod(pod, request))
      if (response) return response
      if (pod) failed.add(pod.ip)
      else if (performance.now() > deadlineMs) throw this.#giveUp(request)
      else {
        failed.clear()
        await delay(pauseMs, undefined, { signal: request.signal })
      }
    }
  }

  async close(): Promise<void> {
    await this.#agent.destroy()
  }

  #giveUp({ baseModelCrName }: EngineRequest): HttpError {
    this.#log.warn({ baseModel: baseModelCrName }, 'no engine took a request')
    return new HttpError(
      errors.engine_unavailable,
      'No engine for this model is ready. Send this request again later.',
      {
        retryAfterSeconds: 2,
      },
    )
  }

  #pickPod(pods: EnginePod[], failed: Set<string>): EnginePod | undefined {
    const load = (pod: EnginePod) => this.#inFlight.heldBy(pod.ip)
    return pods.filter((pod) => !failed.has(pod.ip)).toSorted((a, b) => load(a) - load(b))[0]
  }

  /** The response, or undefined when the pod broke off before it gave one: a chat changes nothing, so another may try. */
  async #tryPod(pod: EnginePod, request: EngineRequest): Promise<Dispatcher.ResponseData | undefined> {
    const finish = await this.#inFlight.acquire({ key: pod.ip })
    try {
      const response = await this.#send(pod, request)
      response.body.once('close', finish)
      return response
    } catch (error) {
      finish()
      if (request.signal.aborted || !isConnectionFailure(error)) throw error
      if (!request.body.isKept)
        throw new HttpError(errors.engine_unavailable, 'The engine closed the connection before it answered.', {
          retryAfterSeconds: 2,
        })
      this.#log.debug({ error, pod: pod.name }, 'engine did not take a request')
      return undefined
    }
  }

  #send(pod: EnginePod, { turn, path, body, signal }: EngineRequest): Promise<Dispatcher.ResponseData> {
    return this.#agent.request({
      origin: engineOrigin(pod.ip),
      path,
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.#engineKey}`,
        'content-type': 'application/json',
        'content-length': String(body.size),
        'x-trainyard-tenant': this.#disguise(turn.key),
        'x-trainyard-weight': String(turn.weight),
      },
      body: Readable.from(body.send(), { objectMode: false }),
      signal,
    })
  }

  /** What engines know an entity by: they see whether two requests are of one, and not whose. */
  #disguise(entity: string): string {
    return createHmac('sha256', this.#engineKey).update(entity).digest('hex').slice(0, 32)
  }
}

const connectionFailures = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_SOCKET',
])

/** Whether a request ended without an answer because the engine was not there (any more). */
export function isConnectionFailure(error: unknown): boolean {
  return error instanceof Error && connectionFailures.has(String((error as { code?: unknown }).code))
}
