import { backoffMs, type Backoff } from '../../../lib/backoff.ts'
import { hashText } from './affinity.ts'
import type { EnginePod } from './engine-pods.ts'

// vLLM's own on most devices. An engine says its number with its first answer.
const defaultMaxRequests = 256
// A few requests wait in the engine, so that none of its places is empty while the next one is on its way.
const queuedShare = 1 / 8
// A pod that is gone is Ready for some seconds more; one that restarts is back at any moment.
const unreachableBackoff: Backoff = { baseMs: 250, maxMs: 2_000, jitter: 0 }

/** A pod that this process sends requests to. */
export class EngineState {
  readonly pod: EnginePod
  readonly hash: number
  inFlight = 0
  isReady = true
  #maxInFlight = addQueue(defaultMaxRequests)
  #failures = 0
  #blocked: NodeJS.Timeout | undefined

  constructor(pod: EnginePod) {
    this.pod = pod
    this.hash = hashText(pod.name)
  }

  /** Whether it gets new requests. */
  get isUsable(): boolean {
    return this.isReady && this.#blocked === undefined
  }

  get maxInFlight(): number {
    return this.#maxInFlight
  }

  /** Says whether Kubernetes calls it Ready. One that becomes so is tried at once, whatever was before. */
  setReady(isReady: boolean): void {
    if (isReady && !this.isReady) this.#unblock()
    this.isReady = isReady
  }

  /** It has answered. @param maxRequests how many it can run at once, if it says so */
  recordAnswer(maxRequests: number | undefined): void {
    this.#failures = 0
    if (maxRequests !== undefined) this.#maxInFlight = addQueue(maxRequests)
  }

  /** It could not be reached: it gets nothing for a moment. `onEnd` is called after it. */
  block(onEnd: () => void): void {
    if (this.#blocked) return
    this.#failures++
    const end = () => {
      this.#blocked = undefined
      onEnd()
    }
    this.#blocked = setTimeout(end, backoffMs(this.#failures, unreachableBackoff)).unref()
  }

  #unblock(): void {
    clearTimeout(this.#blocked)
    this.#blocked = undefined
    this.#failures = 0
  }
}

function addQueue(maxRequests: number): number {
  return maxRequests + Math.ceil(maxRequests * queuedShare)
}
