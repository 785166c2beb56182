import { HttpError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import { createHmac } from 'node:crypto'
import { engineOrigin } from '../../../crds/engine-address.ts'
import type { Logger } from '../../../lib/log.ts'
import type { Turn } from '../../accounts/limits/turn.ts'
import type { ClientWatch } from '../../../lib/http/client-watch.ts'
import type { AffinityKey } from './affinity.ts'
import type { EngineLease } from './base-model-engines.ts'
import type { EngineBody } from './engine-body.ts'
import type { EnginePod } from './engine-pods.ts'
import type { EngineResponse } from './engine-response.ts'
import type { EngineRouter } from './engine-router.ts'
import { EngineTransport, isConnectionFailure, isUnreachable } from './transport.ts'

// A request that ends engines must not end all of them.
const maxBreaks = 3
// Some megabytes.
const maxDisguises = 10_000

/** A request to one of the engines of a base model. */
export interface EngineRequest {
  baseModelCrName: string
  /** whose request it is: entities take turns at engines, and tenants in them */
  turn: Turn
  /** The checkpoint that it samples from; undefined for the base model. */
  adapter: string | undefined
  /** What it has in common with requests that should go to the same engine. */
  affinity: AffinityKey
  path: string
  body: EngineBody
  client: ClientWatch
}

/** The client of the engines: a pool of connections per pod. */
export class EngineClient {
  readonly #router: EngineRouter
  readonly #engineKey: string
  readonly #log: Logger
  readonly #transport = new EngineTransport()
  /** What engines know entities by. */
  readonly #disguises = new Map<string, string>()

  constructor(router: EngineRouter, engineKey: string, log: Logger) {
    this.#router = router
    this.#engineKey = engineKey
    this.#log = log
  }

  /**
   * Sends a request to an engine, for which it waits, and to another, or again, when one does not take it.
   *
   * @throws {HttpError} 503 when there is none in time, and when one has taken it and then breaks off
   */
  async post(request: EngineRequest): Promise<EngineResponse> {
    const { baseModelCrName, turn, adapter, affinity, client } = request
    const { deadlineMs } = this.#router
    const failed = new Set<string>()
    for (let breaks = 0; breaks < maxBreaks;) {
      const search = { turn, adapter, affinity, client, failed, deadlineMs }
      const lease =
        this.#router.tryAcquire(baseModelCrName, search) ?? (await this.#router.acquire(baseModelCrName, search))
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

  /** The response, or how the pod did not give one: a chat changes nothing, so another may try. */
  async #tryPod(lease: EngineLease, request: EngineRequest): Promise<EngineResponse | 'broken' | 'unreachable'> {
    try {
      const response = await this.#send(lease.pod, request)
      lease.recordAnswer(readMaxRequests(response.headers))
      response.whenOver(lease.release)
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

  #send(pod: EnginePod, { turn, path, body, client }: EngineRequest): Promise<EngineResponse> {
    const head =
      `POST ${path} HTTP/1.1\r\nhost: ${engineOrigin(pod.ip).slice('http://'.length)}\r\nconnection: keep-alive\r\n` +
      `authorization: Bearer ${this.#engineKey}\r\ncontent-type: application/json\r\n` +
      `x-trainyard-tenant: ${this.#disguise(turn.key)}\r\nx-trainyard-weight: ${turn.weight}\r\n`
    return this.#transport.send({ host: pod.ip, head, body, client })
  }

  /** What engines know an entity by: they see whether two requests are of one, and not whose. */
  #disguise(entity: string): string {
    const known = this.#disguises.get(entity)
    if (known !== undefined) return known
    const disguise = createHmac('sha256', this.#engineKey).update(entity).digest('hex').slice(0, 32)
    if (this.#disguises.size >= maxDisguises) this.#disguises.clear()
    this.#disguises.set(entity, disguise)
    return disguise
  }
}

function unanswered(): HttpError {
  return new HttpError(errors.engine_unavailable, 'The engine closed the connection before it answered.', {
    retryAfterSeconds: 2,
  })
}

/** How many requests an engine says that it can run at once. */
function readMaxRequests(headers: EngineResponse['headers']): number | undefined {
  const maxRequests = Number(headers['x-trainyard-max-requests'])
  return Number.isSafeInteger(maxRequests) && maxRequests > 0 ? maxRequests : undefined
}
