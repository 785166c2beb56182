import type { Claim, Claimant } from '../../db/jobs/claims.ts'

type Ask = (claimant: Claimant) => Promise<Claim | undefined>

interface Waiter extends PromiseWithResolvers<Claim | undefined> {
  claimant: Claimant
  left: AbortSignal
  /** Was asked for once: a newcomer may get a job that is meant for it alone (one whose answer it lost). */
  tried: boolean
  asking: boolean
  /** Its time is up: it leaves with the answer that is under way, if any. */
  due: boolean
}

interface Line {
  waiters: Set<Waiter>
  woken: boolean
  serving: boolean
}

/**
 * Trainers that wait for a job, in one line per base model: those that work on the fewest jobs first, and among them who
 * waits longest.
 *
 * A wake-up asks for one waiter after the other until one gets nothing: however many wait, a change costs one question
 * to the database per base model, and one more per job given out.
 */
export class ClaimQueue {
  readonly #ask: Ask
  readonly #lines = new Map<string, Line>()
  #closed = false

  constructor(ask: Ask) {
    this.#ask = ask
  }

  /** A job as soon as there is one for this trainer; undefined after `waitMs`, and when `left` says that it is gone. */
  async wait(claimant: Claimant, waitMs: number, left: AbortSignal): Promise<Claim | undefined> {
    if (this.#closed || left.aborted) return undefined
    const line = this.#lineOf(claimant.baseModel)
    const waiter = {
      ...Promise.withResolvers<Claim | undefined>(),
      claimant,
      left,
      tried: false,
      asking: false,
      due: false,
    }
    const leave = () => waiter.resolve(undefined)
    // A process that asks anew has given its earlier wait up, and may hold more by now than that one says.
    for (const other of line.waiters) if (isSameProcess(other.claimant, claimant)) endWait(line, other)
    const timer = setTimeout(() => endWait(line, waiter), waitMs)
    left.addEventListener('abort', leave)
    line.waiters.add(waiter)
    void this.#serve(claimant.baseModel, line)
    try {
      return await waiter.promise
    } finally {
      clearTimeout(timer)
      left.removeEventListener('abort', leave)
      line.waiters.delete(waiter)
    }
  }

  /** Something changed: there may be jobs. */
  wake(): void {
    for (const [baseModel, line] of this.#lines) {
      line.woken = true
      void this.#serve(baseModel, line)
    }
  }

  /** Ends all waits, and every later one at once. */
  close(): void {
    this.#closed = true
    for (const line of this.#lines.values()) line.waiters.forEach((waiter) => endWait(line, waiter))
  }

  #lineOf(baseModel: string): Line {
    const line = this.#lines.get(baseModel) ?? { waiters: new Set(), woken: false, serving: false }
    this.#lines.set(baseModel, line)
    return line
  }

  async #serve(baseModel: string, line: Line): Promise<void> {
    if (line.serving) return
    line.serving = true
    while (line.woken || [...line.waiters].some(isNew)) {
      const dry = !line.woken
      line.woken = false
      await this.#offer(line, dry)
    }
    line.serving = false
    if (line.waiters.size === 0) this.#lines.delete(baseModel)
  }

  /** Asks for each waiter until there is nothing more, and for the new ones in any case. */
  async #offer(line: Line, dry: boolean): Promise<void> {
    for (const waiter of [...line.waiters].toSorted(compareLoad)) {
      const isGone = waiter.left.aborted || !line.waiters.has(waiter)
      if (isGone || (dry && waiter.tried)) continue
      if (!(await this.#askFor(waiter, line))) dry = true
    }
  }

  async #askFor(waiter: Waiter, line: Line): Promise<boolean> {
    waiter.asking = true
    try {
      const claim = await this.#ask(waiter.claimant)
      if (claim || waiter.due) settle(line, waiter, () => waiter.resolve(claim))
      return claim !== undefined
    } catch (error) {
      settle(line, waiter, () => waiter.reject(error))
      return false
    } finally {
      waiter.asking = false
      waiter.tried = true
    }
  }
}

/** Leaves the line at once, so that no second question is asked for this waiter before its own code runs on. */
function settle(line: Line, waiter: Waiter, answer: () => void): void {
  line.waiters.delete(waiter)
  answer()
}

function endWait(line: Line, waiter: Waiter): void {
  waiter.due = true
  if (waiter.tried && !waiter.asking) settle(line, waiter, () => waiter.resolve(undefined))
}

function isSameProcess(a: Claimant, b: Claimant): boolean {
  return a.podUid === b.podUid && a.processId === b.processId
}

/** Sorting is stable: among equals the line's order stays. */
function compareLoad(a: Waiter, b: Waiter): number {
  return (a.claimant.holding?.length ?? 0) - (b.claimant.holding?.length ?? 0)
}

function isNew(waiter: Waiter): boolean {
  return !waiter.tried && !waiter.left.aborted
}
