import type { EventRow } from '../../../../db/jobs/events.ts'
import { isDatabaseUnavailable } from '../../../../db/unavailable.ts'
import { FairSemaphore } from '../../../../lib/fair-semaphore.ts'
import type { Turn } from '../../../accounts/limits/turn.ts'
import { Follower, type FollowerOptions } from './follower.ts'

/** Reads up to `limit` events of a job after a seq. */
type Read = (jobId: string, page: { after: number; limit: number }) => Promise<EventRow[]>

/** The most that a follower reads at once: the largest page, and one more event that shows whether more follow. */
export const readLimit = 101

// If all wake at once, after a reconnection, other requests must still get connections to the database.
const readConcurrency = 4
const pauseMs = 1_000

/** The followers of one job. */
interface Line {
  turn: Turn
  followers: Set<Follower>
  /** Increases whenever there may be new events. */
  version: number
  serving: boolean
}

/**
 * Sends new events to the followers of jobs.
 *
 * A notification only wakes the followers of its job. One query serves all of them that have the same position. A
 * waiting follower costs nothing.
 */
export class EventHub {
  readonly #read: Read
  readonly #lines = new Map<string, Line>()
  /** Entities take turns: one that follows many jobs only delays itself. */
  readonly #turns = new FairSemaphore({ permits: readConcurrency })
  #pause: NodeJS.Timeout | undefined
  #connected = false
  #closed = false

  constructor(read: Read) {
    this.#read = read
  }

  /** Whether notifications arrive. If so, no event is missed. */
  get connected(): boolean {
    return this.#connected
  }

  /** Whether the process is about to end. */
  get closed(): boolean {
    return this.#closed
  }

  /** Starts to follow a job. The follower ends with its signal, or by `leave`. */
  follow(options: FollowerOptions): Follower {
    const { turn } = options
    const line = this.#lines.get(options.jobId) ?? { turn, followers: new Set(), version: 1, serving: false }
    this.#lines.set(options.jobId, line)
    const follower = new Follower(options, {
      onWait: () => void this.#serve(options.jobId, line),
      onLeave: () => {
        line.followers.delete(follower)
        if (line.followers.size === 0) this.#lines.delete(options.jobId)
      },
    })
    line.followers.add(follower)
    if (this.#closed || options.left.aborted) follower.leave()
    return follower
  }

  /** Call it when a job has new events. */
  notify(jobId: string): void {
    const line = this.#lines.get(jobId)
    if (!line) return
    line.version++
    void this.#serve(jobId, line)
  }

  /** Call it when notifications arrive (again). It looks for missed events. */
  onConnect(): void {
    this.#connected = true
    this.#lookAgain()
  }

  /** Call it when notifications stop. It queries the database, so that followers learn of an outage. */
  onDisconnect(): void {
    if (!this.#connected) return
    this.#connected = false
    this.#lookAgain()
  }

  /** Ends all waits. Later waits end at once. */
  close(): void {
    this.#closed = true
    clearTimeout(this.#pause)
    for (const { followers } of Array.from(this.#lines.values())) {
      for (const follower of Array.from(followers)) follower.leave()
    }
  }

  #lookAgain(): void {
    for (const line of this.#lines.values()) line.version++
    this.#resume()
  }

  #resume(): void {
    clearTimeout(this.#pause)
    this.#pause = undefined
    for (const [jobId, line] of this.#lines) void this.#serve(jobId, line)
  }

  async #serve(jobId: string, line: Line): Promise<void> {
    if (line.serving) return
    line.serving = true
    for (;;) {
      // A follower that has all events of this version has nothing to read.
      const behind = [...line.followers].filter(({ waiting, seen }) => waiting && seen !== line.version)
      if (behind.length === 0 || this.#pause || this.#closed) break
      for (const [after, followers] of Map.groupBy(behind, (follower) => follower.after)) {
        const read = () => this.#read(jobId, { after, limit: readLimit })
        await this.#deliver(followers, () => this.#turns.run(line.turn, read), line.version)
      }
    }
    line.serving = false
  }

  /** Delivers events to followers with the same position. */
  async #deliver(followers: Follower[], read: () => Promise<EventRow[]>, version: number): Promise<void> {
    try {
      const events = await read()
      const isAll = events.length < readLimit
      for (const follower of followers) follower.deliver(events, isAll ? version : 0)
    } catch (error) {
      const isOutage = isDatabaseUnavailable(error)
      if (isOutage && !this.#closed) this.#pause ??= setTimeout(() => this.#resume(), pauseMs)
      for (const follower of followers) if (!isOutage || !follower.patient) follower.fail(error)
    }
  }
}
