import { HttpError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import type { Turn } from '../../../lib/fair-semaphore.ts'
import { createHmac } from 'node:crypto'
import type { Logger } from '../../../lib/log.ts'
import type { ClientWatch } from '../../../lib/http/client-watch.ts'
import type { AffinityKey } from './affinity.ts'
import type { EngineLease } from './base-model-engines.ts'
import type { EngineBody } from './engine-body.ts'
import { EngineKeys } from './engine-keys.ts'
import type { EnginePod } from './engine-pods.ts'
import type { EngineRouter } from './engine-router.ts'
import { EngineTransport, isConnectionFailure, isUnreachable, type EngineResponse } from './transport.ts'

// A request that makes engines crash must not reach all of them.
const maxBreaks = 3
// These need some megabytes.
const maxDisguises = 10_000

/** A request to one of the engines of a base model. */
export interface EngineRequest {
  baseModelCrName: string
  /** The entity of the request and its weight, for fair scheduling before and in the engines. */
  turn: Turn
  /** The checkpoint that the request samples from. Undefined for the base model. */
  adapter: string | undefined
  /** Requests with equal keys should go to the same engine. */
  affinity: AffinityKey
  /** How many sequences the engine computes for it. */
  sequences: number
  path: string
  body: EngineBody
  client: ClientWatch
}

/** The client of the engines. It keeps a pool of connections for each pod. */
export class EngineClient {
  readonly #router: EngineRouter
  readonly #keys: EngineKeys
  readonly #disguiseKey: string
  readonly #log: Logger
  readonly #transport = new EngineTransport()
  /** The pseudonyms by which engines know entities. */
  readonly #disguises = new Map<string, string>()

  /** @param engineKeys what engines may ask for, the current key first */
  constructor(router: EngineRouter, engineKeys: readonly string[], log: Logger) {
    this.#router = router
    this.#keys = new EngineKeys(engineKeys)
    this.#disguiseKey = engineKeys[0] ?? ''
    this.#log = log
  }

  /**
   * Waits for an engine and sends a request to it. If that engine does not accept the request, sends it again, to
   * another engine if there is one.
   *
   * @throws {HttpError} 503 if no engine is free in time, or if one has received the request and then disconnects
   */
  async post(request: EngineRequest): Promise<EngineResponse> {
    const { baseModelCrName, turn, adapter, affinity, sequences, client } = request
    const { deadlineMs } = this.#router
    const failed = new Set<string>()
    for (let breaks = 0; breaks < maxBreaks;) {
      const search = { turn, adapter, affinity, sequences, client, failed, deadlineMs }
      const lease = await this.#router.acquire(baseModelCrName, search)
      const outcome = await this.#tryPod(lease, request)
      if (outcome !== 'broken' && outcome !== 'unreachable') return outcome
      failed.add(lease.pod.name)
      if (outcome === 'broken') breaks++
      else if (performance.now() > deadlineMs) break
    }
    throw unanswered()
  }

  close(): void {
    this.#transport.close()
  }

  /** Returns the response, or why there is none. A chat changes no state, so another pod may try it. */
  async #tryPod(lease: EngineLease, request: EngineRequest): Promise<EngineResponse | 'broken' | 'unreachable'> {
    try {
      const key = this.#keys.keyOf(lease.pod)
      const first = await this.#send(lease.pod, request, key)
      const response = first.statusCode === 401 ? await this.#retryWithKey(lease.pod, request, { first, key }) : first
      if (isDead(response)) {
        lease.recordUnreachable()
        return this.#leave(response, lease, request)
      }
      if (isEnding(response, lease)) return this.#leave(response, lease, request)
      lease.recordAnswer(readMaxRequests(response.headers))
      response.body.once('close', lease.release)
      return response
    } catch (error) {
      const outcome = isUnreachable(error) ? 'unreachable' : 'broken'
      if (outcome === 'unreachable') lease.recordUnreachable()
      lease.release()
      if (request.client.hasLeft || !isConnectionFailure(error)) throw error
      if (!request.body.isKept) throw unanswered()
      this.#log.debug({ error, pod: lease.pod.name }, 'engine did not take a request')
      return outcome
    }
  }

  /** Drops the response of an engine that is dead or is being stopped. It has answered nothing yet. */
  #leave(response: EngineResponse, lease: EngineLease, { body }: EngineRequest): 'broken' | 'unreachable' {
    response.body.destroy()
    lease.release()
    if (!body.isKept) throw unanswered()
    this.#log.debug({ status: response.statusCode, pod: lease.pod.name }, 'engine ended before it answered a request')
    return isDead(response) && response.statusCode === 503 ? 'unreachable' : 'broken'
  }

  /** Sends a request again with another key, if the engine does not take the first. It has not looked at the body. */
  async #retryWithKey(
    pod: EnginePod,
    request: EngineRequest,
    { first, key }: { first: EngineResponse; key: string },
  ): Promise<EngineResponse> {
    if (!this.#keys.reject(pod, key) || !request.body.isKept) return first
    first.body.destroy()
    const next = this.#keys.keyOf(pod)
    const response = await this.#send(pod, request, next)
    return response.statusCode === 401 ? this.#retryWithKey(pod, request, { first: response, key: next }) : response
  }

  #send(pod: EnginePod, { turn, path, body, client }: EngineRequest, key: string): Promise<EngineResponse> {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'x-trainyard-tenant': this.#disguise(turn.key),
      'x-trainyard-weight': String(turn.weight),
    }
    return this.#transport.send({ host: pod.ip, path, headers, body, client })
  }

  /**
   * The pseudonym by which engines know an entity. Engines see whether two requests come from one entity, but not from
   * which.
   */
  #disguise(entity: string): string {
    const known = this.#disguises.get(entity)
    if (known !== undefined) return known
    const disguise = createHmac('sha256', this.#disguiseKey).update(entity).digest('hex').slice(0, 32)
    if (this.#disguises.size >= maxDisguises) this.#disguises.clear()
    this.#disguises.set(entity, disguise)
    return disguise
  }
}

/**
 * Whether the computing process of an engine is dead, while its server still answers. The status is 503 if it was dead
 * before the request came, which is then not the cause.
 */
function isDead({ headers }: EngineResponse): boolean {
  return headers['x-trainyard-engine-dead'] === 'true'
}

/** Whether an engine could not answer in the time that it had before its end. */
function isEnding({ statusCode }: EngineResponse, lease: EngineLease): boolean {
  return statusCode >= 500 && lease.hasLeft()
}

function unanswered(): HttpError {
  return new HttpError(errors.engine_unavailable, 'The engine closed the connection before it answered.', {
    retryAfterSeconds: 2,
  })
}

/** The number of requests that an engine says it can run at once. */
function readMaxRequests(headers: EngineResponse['headers']): number | undefined {
  const maxRequests = Number(headers['x-trainyard-max-requests'])
  return Number.isSafeInteger(maxRequests) && maxRequests > 0 ? maxRequests : undefined
}
