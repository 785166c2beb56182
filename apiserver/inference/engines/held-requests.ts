import { HttpError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import type { Turn } from '../../../lib/fair-semaphore.ts'

const retryAfterSeconds = 5

/** A request that waits for an engine. */
interface Waiting {
  turn: Turn
  queue: object
  /** ends the wait with an error */
  end: (reason: HttpError) => void
}

/** How a request waits. */
interface WaitOptions {
  turn: Turn
  /** whether the request counts as held, because no engine of its model is ready */
  isHeld: boolean
  /** what it waits for */
  queue: object
  /** aborted when the client has left */
  signal: AbortSignal
}

/**
 * The requests that wait for an engine. At most `maxRequests` of them are held because no engine is ready. When that
 * many are held, the next request of another entity replaces the newest request of the entity that holds the most for
 * its weight (longest queue drop). So one entity may use the whole queue, and still does not block the others.
 */
export class HeldRequests {
  readonly #maxRequests: number
  readonly #waiting = new Set<Waiting>()
  /** The held requests of each entity, newest last. An entity without any has no entry. */
  readonly #held = new Map<string, Waiting[]>()
  #heldCount = 0
  #isClosed = false

  constructor(maxRequests: number) {
    this.#maxRequests = maxRequests
  }

  /**
   * Calls `wait` with a signal that is aborted when the client leaves or the wait must end.
   *
   * @throws {HttpError} 503 if the queue is full, if this request is dropped for another entity's, or if the process
   * ends
   */
  async while<T>({ turn, isHeld, queue, signal }: WaitOptions, wait: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw isEnding()
    signal.throwIfAborted()
    const ended = new AbortController()
    const waiting: Waiting = { turn, queue, end: (reason) => ended.abort(reason) }
    if (isHeld) this.#hold(waiting)
    const leave = () => {
      this.#remove(waiting)
      ended.abort(signal.reason)
    }
    this.#waiting.add(waiting)
    signal.addEventListener('abort', leave, { once: true })
    try {
      return await wait(ended.signal)
    } finally {
      signal.removeEventListener('abort', leave)
      this.#remove(waiting)
    }
  }

  /** Answers the requests that wait for this with an error. */
  reject(queue: object, reason: HttpError): void {
    for (const waiting of this.#waiting) if (waiting.queue === queue) waiting.end(reason)
  }

  /** Answers all waiting requests, and all later ones, with an error. Another process serves them. */
  close(): void {
    this.#isClosed = true
    for (const { end } of this.#waiting) end(isEnding())
  }

  #hold(waiting: Waiting): void {
    if (this.#heldCount >= this.#maxRequests) this.#makeRoom(waiting.turn)
    const own = this.#held.get(waiting.turn.key) ?? []
    this.#held.set(waiting.turn.key, own)
    own.push(waiting)
    this.#heldCount++
  }

  /** @throws {HttpError} if no other entity would hold more for its weight than the entity of `turn` */
  #makeRoom({ key, weight }: Turn): void {
    let largest = ((this.#held.get(key)?.length ?? 0) + 1) / weight
    let dropped: Waiting | undefined
    for (const [entity, requests] of this.#held) {
      const newest = requests.at(-1)
      if (entity === key || !newest || requests.length / newest.turn.weight <= largest) continue
      largest = requests.length / newest.turn.weight
      dropped = newest
    }
    if (!dropped) throw this.#isFull()
    this.#remove(dropped)
    dropped.end(this.#isFull())
  }

  #remove(waiting: Waiting): void {
    this.#waiting.delete(waiting)
    const own = this.#held.get(waiting.turn.key)
    const index = own?.lastIndexOf(waiting) ?? -1
    if (index === -1) return
    own!.splice(index, 1)
    this.#heldCount--
    if (own!.length === 0) this.#held.delete(waiting.turn.key)
  }

  #isFull(): HttpError {
    const detail = `No engine for this model is ready, and ${this.#maxRequests} requests wait for one, the maximum of a process.`
    return unavailable(`${detail} Send this request again later.`)
  }
}

function isEnding(): HttpError {
  return unavailable('This server process is shutting down. Send this request again: another process takes it.')
}

/** A 503 that says when to send the request again. */
export function unavailable(detail: string): HttpError {
  return new HttpError(errors.engine_unavailable, detail, { retryAfterSeconds })
}
