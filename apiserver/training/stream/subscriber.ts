import type { Topics } from './topics.ts'

// Some hundred changes. A client that is further behind reads everything again.
const maxWaitingBytes = 256 * 1024

/** A client that follows changes. What it has not read yet waits here, up to a bound. */
export class Subscriber {
  readonly entity: string
  readonly topics: Topics
  #frames: string[] = []
  #bytes = 0
  #isTooSlow = false
  #isEnded = false
  #wake: (() => void) | undefined

  constructor(entity: string, topics: Topics) {
    this.entity = entity
    this.topics = topics
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  add(frame: string): void {
    if (this.#isEnded || this.#isTooSlow) return
    this.#bytes += frame.length
    this.#frames.push(frame)
    if (this.#bytes > maxWaitingBytes) this.#markTooSlow()
    this.#wake?.()
  }

  end(): void {
    this.#isEnded = true
    this.#wake?.()
  }

  /** Takes what waits, or what comes within `waitMs`. `tooSlow` says that something is missing. */
  async take(waitMs: number): Promise<{ frames: string[]; tooSlow: boolean }> {
    if (this.#frames.length === 0 && !this.#isTooSlow && !this.#isEnded) await this.#sleep(waitMs)
    const taken = { frames: this.#frames, tooSlow: this.#isTooSlow }
    this.#frames = []
    this.#bytes = 0
    this.#isTooSlow = false
    return taken
  }

  #markTooSlow(): void {
    this.#isTooSlow = true
    this.#frames = []
    this.#bytes = 0
  }

  #sleep(waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, waitMs)
      this.#wake = () => {
        clearTimeout(timer)
        this.#wake = undefined
        resolve()
      }
    })
  }
}
