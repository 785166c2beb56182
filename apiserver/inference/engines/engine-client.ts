import { HttpError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import { createHmac } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { engineOrigin } from '../../../crds/engine-address.ts'
import { FairSemaphore } from '../../../lib/fair-semaphore.ts'
import type { Logger } from '../../../lib/log.ts'
import type { Turn } from '../../accounts/limits/turn.ts'
import type { ClientWatch } from '../../../lib/http/client-watch.ts'
import type { EngineBody } from './engine-body.ts'
import type { EnginePod, EnginePods } from './engine-pods.ts'
import type { EngineResponse } from './engine-response.ts'
import { EngineTransport, isConnectionFailure } from './transport.ts'

// An engine that restarts is waited for as long as an interactive client may wait, then the client decides.
const patienceMs = 5_000
const pauseMs = 250
// Some megabytes.
const maxDisguises = 10_000

/** A request to one of the engines of a base model. */
export interface EngineRequest {
  baseModelCrName: string
  /** whose request it is: engines give tenants turns */
  turn: Turn
  path: string
  body: EngineBody
  client: ClientWatch
}

/** The client of the engines: a pool of connections per pod. */
export class EngineClient {
  readonly #pods: EnginePods
  readonly #engineKey: string
  readonly #log: Logger
  readonly #transport = new EngineTransport()
  /** What engines know entities by. */
  readonly #disguises = new Map<string, string>()
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
  async post(request: EngineRequest): Promise<EngineResponse> {
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
        await delay(pauseMs, undefined, { signal: request.client.signal })
      }
    }
  }

  async close(): Promise<void> {
    await this.#transport.close()
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
  async #tryPod(pod: EnginePod, request: EngineRequest): Promise<EngineResponse | undefined> {
    const finish = await this.#inFlight.acquire({ key: pod.ip })
    try {
      const response = await this.#send(pod, request)
      response.whenOver(finish)
      return response
    } catch (error) {
      finish()
      if (request.client.hasLeft || !isConnectionFailure(error)) throw error
      if (!request.body.isKept)
        throw new HttpError(errors.engine_unavailable, 'The engine closed the connection before it answered.', {
          retryAfterSeconds: 2,
        })
      this.#log.debug({ error, pod: pod.name }, 'engine did not take a request')
      return undefined
    }
  }

  #send(pod: EnginePod, { turn, path, body, client }: EngineRequest): Promise<EngineResponse> {
    const headers = {
      authorization: `Bearer ${this.#engineKey}`,
      'content-type': 'application/json',
      'x-trainyard-tenant': this.#disguise(turn.key),
      'x-trainyard-weight': String(turn.weight),
    }
    return this.#transport.send({ origin: engineOrigin(pod.ip), path, headers, body, client })
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
