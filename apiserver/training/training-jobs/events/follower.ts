import type { EventRow } from '../../../../db/jobs/events.ts'
import type { Turn } from '../../../accounts/limits/turn.ts'

export interface FollowerOptions {
  jobId: string
  /** Of the entity whose the job is. */
  turn: Turn
  /** the seq behind which it starts; -1 for all */
  after: number
  /** Waits through an outage of the database. The others get an error. */
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
  /** the seq of the last event that it got */
  after: number
  /** the version of its job's line at which it knew everything; 0 for none */
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

  /** It was ended: by its signal, or because the process ends. */
  get gone(): boolean {
    return this.#gone
  }

  /**
   * The events after the last one that it got, as soon as there is one (a page of them at most); none after the time,
   * and none when it is gone.
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

  /** Hands over events, and the version at which these were all. One whose time ran out meanwhile gets them later. */
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

  /** It waits for nothing any more. */
  leave(): void {
    if (this.#gone) return
    this.#gone = true
    this.#left.removeEventListener('abort', this.#leave)
    this.#take()?.resolve([])
    this.#calls.onLeave()
  }

  /** The caller that takes the promise settles it: no other may send events to it then. */
  #take(): PromiseWithResolvers<EventRow[]> | undefined {
    const waiting = this.#waiting
    this.#waiting = undefined
    return waiting
  }
}
