import { FairSemaphore, PermitTimeout, type Turn } from '../../../lib/fair-semaphore.ts'
import type { ClientWatch } from '../../../lib/http/client-watch.ts'
import type { HttpError } from '../../../lib/http/http-error.ts'
import type { AdapterHistory } from './adapter-history.ts'
import { hashAffinity, type AffinityKey } from './affinity.ts'
import type { EnginePod } from './engine-pods.ts'
import { EngineState } from './engine-state.ts'
import { unavailable, type HeldRequests } from './held-requests.ts'
import { pickPod } from './pick-pod.ts'
import { RequestCount } from './request-count.ts'

/** A request that needs an engine. */
export interface EngineSearch {
  turn: Turn
  /** The checkpoint that the request samples from. Undefined for the base model. */
  adapter: string | undefined
  /** Requests with equal keys should go to the same engine. */
  affinity: AffinityKey
  /** How many sequences the engine computes for it. */
  sequences: number
  client: ClientWatch
  /** The pods that closed the connection during this request. */
  failed: ReadonlySet<string>
  /** The time on the process's clock at which the wait ends. */
  deadlineMs: number
}

/** A slot of an engine pod, until it is released. */
export interface EngineLease {
  pod: EnginePod
  /** Whether the pod is being stopped, or is not Ready for another reason. */
  hasLeft: () => boolean
  /** Records that the pod has answered, and how many requests it says it can run at once. */
  recordAnswer: (maxRequests: number | undefined) => void
  /** Records that the pod could not be reached. */
  recordUnreachable: () => void
  release: () => void
}

/** The requests for a base model and its engines, as numbers. */
export interface EngineLoad {
  inFlight: number
  /** Requests that wait because no pod was usable when they arrived. */
  held: number
  /** Requests that wait because all pods were full. */
  busy: number
  /** The pods that get new requests. */
  usable: number
}

/**
 * The engine pods of one base model. Requests beyond the capacity of the usable pods wait here. They are served fairly
 * by the weights of their entities.
 */
export class BaseModelEngines {
  readonly #held: HeldRequests
  readonly #history: AdapterHistory
  readonly #states = new Map<string, EngineState>()
  /**
   * One permit for each sequence that the usable pods may have, and one for each that other pods still compute. Engines
   * divide what they have between entities. So an entity gets its share of the usable pods while others have all of it.
   */
  readonly #permits = new FairSemaphore({ permits: 0 })
  readonly #requests = new RequestCount()
  readonly #onHeld: () => void

  /** @param onHeld is called when a request waits and no pod is usable */
  constructor(held: HeldRequests, history: AdapterHistory, onHeld: () => void) {
    this.#held = held
    this.#history = history
    this.#onHeld = onHeld
  }

  /** Takes the most requests at once since it was last asked: those that wait, and those that pods answer. */
  takePeak(): number {
    return this.#requests.takePeak()
  }

  get isIdle(): boolean {
    return this.#permits.isIdle && this.#states.size === 0 && this.#requests.isZero
  }

  /** What metrics show. */
  get load(): EngineLoad {
    return { ...this.#requests.counts, usable: this.#listUsable().length }
  }

  /** Whether a request waits. */
  get isAwaited(): boolean {
    return this.#requests.isAwaited
  }

  /** Answers the requests that wait with an error. */
  rejectWaiting(reason: HttpError): void {
    this.#held.reject(this, reason)
  }

  /** @param ready the pods that are Ready in Kubernetes */
  update(ready: readonly EnginePod[]): void {
    const keys = new Set(ready.map(keyOf))
    for (const [key, state] of this.#states) if (!keys.has(key)) state.setReady(false)
    for (const pod of ready) {
      const known = this.#states.get(keyOf(pod))
      if (known) known.setReady(true)
      else this.#states.set(keyOf(pod), new EngineState(pod))
    }
    this.#resize()
  }

  /** Returns a slot of one of the pods, or undefined if none is free. */
  #tryAcquire(search: EngineSearch): EngineLease | undefined {
    const release = this.#permits.tryAcquire({ ...search.turn, permits: search.sequences })
    if (!release) return undefined
    const state = this.#pick(search)
    if (state) return this.#lease(state, search, release)
    // The last usable pod became unusable before the permit was acquired.
    release()
    return undefined
  }

  /** Waits for a slot of one of the pods. @throws {HttpError} 503 if none becomes free in time */
  async acquire(search: EngineSearch): Promise<EngineLease> {
    for (;;) {
      const lease = this.#tryAcquire(search)
      if (lease) return lease
      const release = await this.#wait(search)
      const state = this.#pick(search)
      if (state) return this.#lease(state, search, release)
      release()
    }
  }

  async #wait({ turn, sequences: permits, client, deadlineMs }: EngineSearch): Promise<() => void> {
    const timeoutMs = Math.max(0, deadlineMs - performance.now())
    const isHeld = this.#listUsable().length === 0
    const reason = isHeld ? 'held' : 'busy'
    this.#requests.add(reason)
    try {
      if (isHeld) this.#onHeld()
      return await this.#held.while({ turn, isHeld, queue: this, signal: client.signal }, (ended) =>
        this.#permits.acquire({ ...turn, permits, timeoutMs, signal: ended }),
      )
    } catch (error) {
      throw error instanceof PermitTimeout ? unavailable(describeTimeout(isHeld)) : error
    } finally {
      this.#requests.remove(reason)
    }
  }

  #listUsable(): EngineState[] {
    return [...this.#states.values()].filter(({ isUsable }) => isUsable)
  }

  #pick({ adapter, affinity, failed }: EngineSearch): EngineState | undefined {
    const [first, ...rest] = this.#states.values()
    // There is only one pod.
    if (first && rest.length === 0) return first.isUsable ? first : undefined
    const affinityHash = hashAffinity(affinity)
    const loads = this.#listUsable().map((state) => ({
      state,
      inFlight: state.inFlight,
      maxInFlight: state.maxInFlight,
      hash: state.hash,
      hasAdapter: adapter !== undefined && this.#history.has(state.pod.name, adapter),
    }))
    const others = loads.filter(({ state }) => !failed.has(state.pod.name))
    return (pickPod(others, affinityHash) ?? pickPod(loads, affinityHash))?.state
  }

  #lease(state: EngineState, { adapter, sequences }: EngineSearch, releasePermit: () => void): EngineLease {
    state.inFlight += sequences
    this.#requests.add('inFlight')
    let isReleased = false
    return {
      pod: state.pod,
      hasLeft: () => !state.isReady,
      recordAnswer: (maxRequests) => {
        const before = state.maxInFlight
        state.recordAnswer(maxRequests)
        if (adapter !== undefined) this.#history.record(state.pod.name, adapter)
        if (state.maxInFlight !== before) this.#resize()
      },
      recordUnreachable: () => {
        state.block(() => this.#resize())
        this.#resize()
      },
      release: () => {
        if (isReleased) return
        isReleased = true
        state.inFlight -= sequences
        this.#requests.remove('inFlight')
        if (!state.isUsable) this.#resize()
        releasePermit()
      },
    }
  }

  #resize(): void {
    let [permits, usable] = [0, 0]
    for (const [key, state] of this.#states) {
      permits += state.isUsable ? state.maxInFlight : state.inFlight
      if (state.isUsable) usable += state.maxInFlight
      if (!state.isReady && state.inFlight === 0) this.#states.delete(key)
    }
    this.#permits.resize(permits, usable)
  }
}

function keyOf({ name, ip }: EnginePod): string {
  return `${name} ${ip}`
}

function describeTimeout(isHeld: boolean): string {
  const reason = isHeld ? 'No engine for this model became ready' : 'All engines of this model were busy'
  return `${reason} in the time that requests are held. Send this request again later.`
}
