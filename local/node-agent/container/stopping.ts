import { setTimeout as delay } from 'node:timers/promises'
import { killGroup, signalProcess } from './process-table.ts'
import type { Run } from './run.ts'

const pollMs = 100

/** Stops a run: preStop, SIGTERM to the main process, and SIGKILL to its whole group at the deadline. */
export class Stopping {
  readonly #run: Run
  #deadline: number

  /** @param preStop the container's hook; its time counts within the same grace period */
  constructor(run: Run, deadline: number, preStop: (() => Promise<void>) | undefined) {
    this.#run = run
    this.#deadline = deadline
    void this.#ask(preStop)
  }

  /** A second, more urgent wish to stop. */
  hasten(deadline: number): void {
    this.#deadline = Math.min(this.#deadline, deadline)
  }

  /** Kills when it is time to. @returns in how many milliseconds to look again */
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
    // A hook that fails or hangs does not keep the container.
    if (preStop) await Promise.race([preStop().catch(() => undefined), delay(left)])
    if (this.#run.main) signalProcess(this.#run.main, 'SIGTERM')
  }
}
