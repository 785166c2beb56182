/** How soon a changed status is written. */
export interface StatusDelay {
  /** It waits so long since the change was noticed, because another change may follow. */
  settleMs: number
  /** It waits so long since the last write. */
  intervalMs: number
}

interface Times {
  noticedAt: number | undefined
  phase: string | undefined
  writtenAt: number
}

/** Decides when the changed statuses of unfinished resources are written, so that several changes make one write. */
export class StatusThrottle {
  readonly #times = new Map<string, Times>()
  readonly #now: () => number

  constructor(now = () => performance.now()) {
    this.#now = now
  }

  /**
   * Says that a status has changed, and the phase in it, which has time of its own to settle. Returns the milliseconds until it
   * may be written; 0 for now.
   */
  notice(key: string, { settleMs, intervalMs }: StatusDelay, phase?: string): number {
    const times = this.#times.get(key) ?? { noticedAt: undefined, phase, writtenAt: -Infinity }
    if (times.phase !== phase) times.noticedAt = undefined
    times.phase = phase
    times.noticedAt ??= this.#now()
    this.#times.set(key, times)
    return Math.max(0, times.noticedAt + settleMs - this.#now(), times.writtenAt + intervalMs - this.#now())
  }

  /** Call it after a write, and when the status has changed back. */
  settle(key: string, { isWritten }: { isWritten: boolean }): void {
    const { phase, writtenAt = -Infinity } = this.#times.get(key) ?? {}
    this.#times.set(key, { noticedAt: undefined, phase, writtenAt: isWritten ? this.#now() : writtenAt })
  }

  /** Whether the status of this key was looked at before. */
  knows(key: string): boolean {
    return this.#times.has(key)
  }

  /** Call it when a resource is finished or gone. */
  forget(key: string): void {
    this.#times.delete(key)
  }
}
