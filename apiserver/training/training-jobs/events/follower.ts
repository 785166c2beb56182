import type { EventRow } from '../../../../db/jobs/events.ts'
import type { Turn } from '../../../../lib/fair-semaphore.ts'

export interface FollowerOptions {
  jobId: string
  /** The turn of the job's entity. */
  turn: Turn
  /** The follower gets events after this seq; -1 for all. */
  after: number
  /** Whether it waits through an outage of the database. Otherwise it gets an error. */
  patient: boolean
  /** Aborted when nobody wants the events any more. */
  left: AbortSignal
}

interface Calls {
  onWait: () => void
  onLeave: () => void
}

/** A client that follows a job's events (see EventHub), with its position. */
export class Follower {
  /** The seq of the last event that it got. */
  after: number
  /** The version of its job's line when it last had all events; 0 for none. */
  seen = 0
  readonly patient: boolean
  readonly #calls: Calls
  readonly #left: AbortSignal
  readonly #leave = () => this.leave()
  #waiting: PromiseWithResolvers<EventRow[]> | undefined
  #gone = false

  constructor({ after, patient, left }: FollowerOptions, calls: Calls) {
    this.after = after
    this.patient = patient
    this.#calls = calls
    this.#left = left
    left.addEventListener('abort', this.#leave)
  }

  get waiting(): boolean {
    return this.#waiting !== undefined
  }

  /** Whether it has ended: by its signal, or because the process ends. */
  get gone(): boolean {
    return this.#gone
  }

  /**
   * Returns the next events as soon as there is one, at most a page. Returns none after `waitMs`, or if it has ended.
   */
  async next(waitMs: number): Promise<EventRow[]> {
    if (this.#gone) return []
    const waiting = Promise.withResolvers<EventRow[]>()
    this.#waiting = waiting
    const timer = setTimeout(() => this.#take()?.resolve([]), waitMs)
    this.#calls.onWait()
    try {
      return await waiting.promise
    } finally {
      clearTimeout(timer)
    }
  }

  /**
   * Delivers events, and the version at which these were all. If its wait has ended meanwhile, the next call returns
   * them.
   */
  deliver(events: EventRow[], version: number): void {
    const last = events.at(-1)
    const waiting = last && this.#take()
    if (last && !waiting) return
    this.seen = version
    if (last) this.after = last.seq
    waiting?.resolve(events)
  }

  fail(error: unknown): void {
    this.#take()?.reject(error)
  }

  /** Ends the follower and its wait. */
  leave(): void {
    if (this.#gone) return
    this.#gone = true
    this.#left.removeEventListener('abort', this.#leave)
    this.#take()?.resolve([])
    this.#calls.onLeave()
  }

  /** The caller that takes the promise settles it, so that no other caller delivers events. */
  #take(): PromiseWithResolvers<EventRow[]> | undefined {
    const waiting = this.#waiting
    this.#waiting = undefined
    return waiting
  }
}
