import type { EventRow } from '../../../../db/jobs/events.ts'
import { isDatabaseUnavailable } from '../../../../db/unavailable.ts'
import { runInTurn } from '../../../../lib/request-scope.ts'
import type { Turn } from '../../../../lib/fair-semaphore.ts'
import { Follower, type FollowerOptions } from './follower.ts'

/** Reads up to `limit` events of a job after a seq. */
type Read = (jobId: string, page: { after: number; limit: number }) => Promise<EventRow[]>

/** The most that a follower reads at once: the largest page, and one more event that shows whether more follow. */
export const readLimit = 101

const pauseMs = 1_000

/** The followers of one job. */
interface Line {
  turn: Turn
  followers: Set<Follower>
  /** Increases whenever there may be new events. */
  version: number
  serving: boolean
  /** After a read that the database did not answer. */
  pause: NodeJS.Timeout | undefined
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
    const line = this.#lines.get(options.jobId) ?? makeLine(turn)
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
    for (const { followers, pause } of Array.from(this.#lines.values())) {
      clearTimeout(pause)
      for (const follower of Array.from(followers)) follower.leave()
    }
  }

  #lookAgain(): void {
    for (const [jobId, line] of this.#lines) {
      line.version++
      this.#resume(jobId, line)
    }
  }

  #resume(jobId: string, line: Line): void {
    clearTimeout(line.pause)
    line.pause = undefined
    void this.#serve(jobId, line)
  }

  async #serve(jobId: string, line: Line): Promise<void> {
    if (line.serving) return
    line.serving = true
    for (;;) {
      // A follower that has all events of this version has nothing to read.
      const behind = [...line.followers].filter(({ waiting, seen }) => waiting && seen !== line.version)
      if (behind.length === 0 || line.pause || this.#closed) break
      for (const [after, followers] of Map.groupBy(behind, (follower) => follower.after)) {
        await this.#deliver(jobId, line, { after, followers })
      }
    }
    line.serving = false
  }

  /** Delivers events to followers with the same position. An entity that follows many jobs only delays itself. */
  async #deliver(
    jobId: string,
    line: Line,
    { after, followers }: { after: number; followers: Follower[] },
  ): Promise<void> {
    const { turn, version } = line
    try {
      const events = await runInTurn(turn, () => this.#read(jobId, { after, limit: readLimit }))
      const isAll = events.length < readLimit
      for (const follower of followers) follower.deliver(events, isAll ? version : 0)
    } catch (error) {
      const isOutage = isDatabaseUnavailable(error)
      if (isOutage && !this.#closed) line.pause ??= setTimeout(() => this.#resume(jobId, line), pauseMs)
      for (const follower of followers) if (!isOutage || !follower.patient) follower.fail(error)
    }
  }
}

function makeLine(turn: Turn): Line {
  return { turn, followers: new Set(), version: 1, serving: false, pause: undefined }
}
