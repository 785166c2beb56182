import { backoffMs, type Backoff } from '../../../lib/backoff.ts'
import { hashText } from './affinity.ts'
import type { EnginePod } from './engine-pods.ts'

// vLLM's default on most devices. An engine tells its own number with its first answer.
const defaultMaxRequests = 256
// A few requests wait in the engine, so that it is not idle until the next request arrives.
const queuedShare = 1 / 8
// A pod that is gone stays Ready for some seconds. A pod that restarts may be back at any moment.
const unreachableBackoff: Backoff = { baseMs: 250, maxMs: 2_000, jitter: 0 }

/** A pod that this process sends requests to. */
export class EngineState {
  readonly pod: EnginePod
  readonly hash: number
  /** The sequences that this process has sent to it. */
  inFlight = 0
  isReady = true
  #maxInFlight = addQueue(defaultMaxRequests)
  #failures = 0
  #blocked: NodeJS.Timeout | undefined

  constructor(pod: EnginePod) {
    this.pod = pod
    this.hash = hashText(pod.name)
  }

  /** Whether the pod gets new requests. */
  get isUsable(): boolean {
    return this.isReady && this.#blocked === undefined
  }

  get maxInFlight(): number {
    return this.#maxInFlight
  }

  /** Sets whether the pod is Ready in Kubernetes. A pod that becomes Ready is tried at once, even after failures. */
  setReady(isReady: boolean): void {
    if (isReady && !this.isReady) this.#unblock()
    this.isReady = isReady
  }

  /** Records an answer. @param maxRequests how many sequences the pod says it can run at once, if it says so */
  recordAnswer(maxRequests: number | undefined): void {
    this.#failures = 0
    if (maxRequests !== undefined) this.#maxInFlight = addQueue(maxRequests)
  }

  /** Records that the pod could not be reached. It gets no requests for a moment. Then `onEnd` is called. */
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
