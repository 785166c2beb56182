import { setImmediate as nextEvents } from 'node:timers/promises'

// The longest time that one piece of work may block other requests.
const maxBlockMs = 20

/** Yields to other requests during long work: `if (yielder.isDue()) await yielder.yield()`. */
export class EventLoopYielder {
  #sinceMs = performance.now()

  isDue(): boolean {
    return performance.now() - this.#sinceMs > maxBlockMs
  }

  async yield(): Promise<void> {
    await nextEvents()
    this.#sinceMs = performance.now()
  }
}
