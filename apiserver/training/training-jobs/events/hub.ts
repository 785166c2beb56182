import type { EventRow } from '../../../../db/jobs/events.ts'
import { isDatabaseUnavailable } from '../../../../db/unavailable.ts'
import { FairSemaphore } from '../../../../lib/fair-semaphore.ts'
import type { Turn } from '../../../accounts/limits/turn.ts'
import { Follower, type FollowerOptions } from './follower.ts'

/** Reads up to `limit` events of a job behind a seq. */
type Read = (jobId: string, page: { after: number; limit: number }) => Promise<EventRow[]>

/** The most that a follower reads at once: the largest page, and one event more that shows whether there are more. */
export const readLimit = 101

// When all wake at once (a reconnection), other requests still get their turn at the database.
const readConcurrency = 4
const pauseMs = 1_000

/** The followers of one job. */
interface Line {
  turn: Turn
  followers: Set<Follower>
  /** Grows whenever there may be new events. */
  version: number
  serving: boolean
}

/**
 * Sends new events to the followers of jobs.
 *
 * A notification wakes the followers of its job only. One question to the database serves all of them that stand at the
 * same event. A waiting follower costs nothing until then.
 */
export class EventHub {
  readonly #read: Read
  readonly #lines = new Map<string, Line>()
  /** Entities take turns: one that follows many jobs waits for itself. */
  readonly #turns = new FairSemaphore({ permits: readConcurrency })
  #pause: NodeJS.Timeout | undefined
  #connected = false
  #closed = false

  constructor(read: Read) {
    this.#read = read
  }

  /** Notifications arrive: no event is missed while this is so. */
  get connected(): boolean {
    return this.#connected
  }

  /** The process is about to end. */
  get closed(): boolean {
    return this.#closed
  }

  /** Starts to follow a job; the follower leaves with its signal, or by `leave`. */
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

  /** A job has new events. */
  notify(jobId: string): void {
    const line = this.#lines.get(jobId)
    if (!line) return
    line.version++
    void this.#serve(jobId, line)
  }

  /** Notifications arrive (again): what was missed is looked for. */
  onConnect(): void {
    this.#connected = true
    this.#lookAgain()
  }

  /** Notifications do not arrive: followers that must know that the database is away find out. */
  onDisconnect(): void {
    if (!this.#connected) return
    this.#connected = false
    this.#lookAgain()
  }

  /** Ends all waits, and every later one at once. */
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
      // Where no event came since the last one that it got, there is nothing to read.
      const behind = [...line.followers].filter(({ waiting, seen }) => waiting && seen !== line.version)
      if (behind.length === 0 || this.#pause || this.#closed) break
      for (const [after, followers] of Map.groupBy(behind, (follower) => follower.after)) {
        const read = () => this.#read(jobId, { after, limit: readLimit })
        await this.#deliver(followers, () => this.#turns.run(line.turn, read), line.version)
      }
    }
    line.serving = false
  }

  /** Answers followers that stand at the same event. */
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
