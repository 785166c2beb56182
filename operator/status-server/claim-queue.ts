import type { Claim, Claimant } from '../../db/jobs/claims.ts'

/** Queries the database. With `onlyLost`, only for a job whose answer the trainer has lost. */
type Ask = (claimant: Claimant, only: { onlyLost: boolean }) => Promise<Claim | undefined>

interface Waiter extends PromiseWithResolvers<Claim | undefined> {
  claimant: Claimant
  left: AbortSignal
  /**
   * The database was queried for it once. A new waiter may get a job that only it can get: one whose answer it lost.
   */
  tried: boolean
  asking: boolean
  /** Its time is over. It ends with the result of the running query, if any. */
  due: boolean
}

interface Topic {
  waiters: Set<Waiter>
  woken: boolean
  serving: boolean
  /** The last job was assigned, and there was no wake-up since. */
  empty: boolean
}

/**
 * Trainers that wait for a job, with one topic for each base model, and one for each job that has pods of its own.
 * Trainers with the fewest jobs come first; among these, the one that has waited longest.
 *
 * A wake-up queries for one waiter after another until one gets the last job, or nothing. So a change costs one query per base
 * model and one per claimed job, however many wait.
 */
export class ClaimQueue {
  readonly #ask: Ask
  readonly #topics = new Map<string, Topic>()
  #closed = false

  constructor(ask: Ask) {
    this.#ask = ask
  }

  /**
   * Resolves with a job as soon as there is one for this trainer. Resolves with undefined after `waitMs` or when `left`
   * aborts.
   */
  async wait(claimant: Claimant, waitMs: number, left: AbortSignal): Promise<Claim | undefined> {
    if (this.#closed || left.aborted) return undefined
    const name = nameTopic(claimant)
    const topic = this.#topicOf(name)
    const waiter = {
      ...Promise.withResolvers<Claim | undefined>(),
      claimant,
      left,
      tried: false,
      asking: false,
      due: false,
    }
    const leave = () => waiter.resolve(undefined)
    // A process that asks again has given up its earlier wait. The earlier list of held jobs may be outdated.
    for (const other of topic.waiters) if (isSameProcess(other.claimant, claimant)) endWait(topic, other)
    const timer = setTimeout(() => endWait(topic, waiter), waitMs)
    left.addEventListener('abort', leave)
    topic.waiters.add(waiter)
    void this.#serve(name, topic)
    try {
      return await waiter.promise
    } finally {
      clearTimeout(timer)
      left.removeEventListener('abort', leave)
      topic.waiters.delete(waiter)
    }
  }

  /** Call it after a change that may have queued jobs. */
  wake(): void {
    for (const [name, topic] of this.#topics) {
      topic.woken = true
      void this.#serve(name, topic)
    }
  }

  /** Ends all waits. Later waits end at once. */
  close(): void {
    this.#closed = true
    for (const topic of this.#topics.values()) topic.waiters.forEach((waiter) => endWait(topic, waiter))
  }

  #topicOf(name: string): Topic {
    const topic = this.#topics.get(name) ?? { waiters: new Set(), woken: false, serving: false, empty: false }
    this.#topics.set(name, topic)
    return topic
  }

  async #serve(name: string, topic: Topic): Promise<void> {
    if (topic.serving) return
    topic.serving = true
    while (topic.woken || [...topic.waiters].some(isNew)) {
      const isExhausted = !topic.woken
      if (topic.woken) topic.empty = false
      topic.woken = false
      await this.#offer(topic, isExhausted)
    }
    topic.serving = false
    if (topic.waiters.size === 0) this.#topics.delete(name)
  }

  /** Queries for each waiter until there are no more jobs, and for new waiters in any case. */
  async #offer(topic: Topic, isExhausted: boolean): Promise<void> {
    for (const waiter of [...topic.waiters].toSorted(compareLoad)) {
      const isGone = waiter.left.aborted || !topic.waiters.has(waiter)
      if (isGone || ((isExhausted || topic.empty) && waiter.tried)) continue
      if (!(await this.#askFor(waiter, topic))) isExhausted = true
    }
  }

  async #askFor(waiter: Waiter, topic: Topic): Promise<boolean> {
    waiter.asking = true
    try {
      const claim = await this.#ask(waiter.claimant, { onlyLost: topic.empty })
      if (claim?.isLast) topic.empty = true
      if (claim || waiter.due) settle(topic, waiter, () => waiter.resolve(claim))
      return claim !== undefined
    } catch (error) {
      settle(topic, waiter, () => waiter.reject(error))
      return false
    } finally {
      waiter.asking = false
      waiter.tried = true
    }
  }
}

/** A trainer that gets nothing ends a round of its topic: the job that it waits for is nobody else's. */
function nameTopic({ baseModel, jobId }: Claimant): string {
  return jobId === undefined ? baseModel : `job ${jobId}`
}

/** Removes the waiter at once, so that no second query runs for it before its own code continues. */
function settle(topic: Topic, waiter: Waiter, answer: () => void): void {
  topic.waiters.delete(waiter)
  answer()
}

function endWait(topic: Topic, waiter: Waiter): void {
  waiter.due = true
  if (waiter.tried && !waiter.asking) settle(topic, waiter, () => waiter.resolve(undefined))
}

function isSameProcess(a: Claimant, b: Claimant): boolean {
  return a.podUid === b.podUid && a.processId === b.processId
}

/** Sorting is stable: equal waiters stay in the order of arrival. */
function compareLoad(a: Waiter, b: Waiter): number {
  return a.claimant.holding.length - b.claimant.holding.length
}

function isNew(waiter: Waiter): boolean {
  return !waiter.tried && !waiter.left.aborted
}
