import { setTimeout as delay } from 'node:timers/promises'
import { killGroup, signalProcess } from './process-table.ts'
import type { Run } from './run.ts'

const pollMs = 100

/** Stops a run: preStop, SIGTERM to the main process, and SIGKILL to its whole group at the deadline. */
export class Stopping {
  readonly #run: Run
  #deadline: number

  /** @param preStop the container's hook, which is part of the grace period */
  constructor(run: Run, deadline: number, preStop: (() => Promise<void>) | undefined) {
    this.#run = run
    this.#deadline = deadline
    void this.#ask(preStop)
  }

  /** Sets an earlier deadline. */
  hasten(deadline: number): void {
    this.#deadline = Math.min(this.#deadline, deadline)
  }

  /** Kills the run when the deadline has passed. @returns the milliseconds until the next call */
  advance(): number {
    const left = this.#deadline - Date.now()
    if (left > 0) return left
    if (this.#run.main) {
      signalProcess(this.#run.main, 'SIGKILL')
      killGroup(this.#run.main)
    }
    return pollMs
  }

  async #ask(preStop: (() => Promise<void>) | undefined): Promise<void> {
    const left = Math.max(0, this.#deadline - Date.now())
    // A failed or hanging hook does not delay the stop.
    if (preStop) await Promise.race([preStop().catch(() => undefined), delay(left)])
    if (this.#run.main) signalProcess(this.#run.main, 'SIGTERM')
  }
}
