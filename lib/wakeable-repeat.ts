import { setTimeout as delay } from 'node:timers/promises'
import { repeat } from './repeat.ts'

interface WakeableRepeatOptions {
  /** The time between two runs without a call of `wake`. */
  everyMs: number
  /** The pause after each run, however often `wake` is called. */
  minPauseMs: number
  /** Called with errors of the work. */
  onError: (error: unknown) => void
}

/** Runs work regularly, and soon after `wake` is called; one run at a time. */
export class WakeableRepeat {
  readonly #stop = new AbortController()
  readonly #running: Promise<void>
  #woken = Promise.withResolvers<void>()

  constructor(work: () => Promise<unknown>, { everyMs, minPauseMs, onError }: WakeableRepeatOptions) {
    const run = async () => {
      await this.#wait(everyMs - minPauseMs)
      await work()
    }
    this.#running = repeat(run, { pauseMs: minPauseMs, signal: this.#stop.signal, onError })
  }

  wake(): void {
    this.#woken.resolve()
  }

  /** Resolves after the last run. If the next run is waited for, it is the last one. */
  async close(): Promise<void> {
    this.#stop.abort()
    this.wake()
    await this.#running
  }

  async #wait(maxMs: number): Promise<void> {
    const waited = new AbortController()
    await Promise.race([this.#woken.promise, delay(maxMs, undefined, { signal: waited.signal }).catch(() => {})])
    waited.abort()
    this.#woken = Promise.withResolvers<void>()
  }
}
