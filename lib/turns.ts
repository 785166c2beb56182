import { setImmediate as nextEvents } from 'node:timers/promises'

// So long may one piece of work keep other requests waiting.
const turnMs = 20

/** Lets other requests have their turn during long work: `if (turns.isOver()) await turns.next()`. */
export class Turns {
  #sinceMs = performance.now()

  isOver(): boolean {
    return performance.now() - this.#sinceMs > turnMs
  }

  async next(): Promise<void> {
    await nextEvents()
    this.#sinceMs = performance.now()
  }
}
