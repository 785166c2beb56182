import { Refusal } from '../refusal.ts'

// Pages are read in less: who waits longer waits for somebody who reads slowly.
const waitMs = 5_000
const retryAfterSeconds = '1'

interface Waiting {
  entity: string
  begin: () => void
}

/**
 * The answers that are read from the database as fast as their clients take them. Each holds a connection for as long, so
 * there are fewer than connections: what is brief always finds one. An entity has a share of them.
 */
export class OpenStreams {
  readonly #most: number
  readonly #share: number
  /** An entity without any has no entry. */
  readonly #taken = new Map<string, number>()
  readonly #waiting = new Set<Waiting>()
  #all = 0

  constructor(connections: number) {
    this.#most = Math.floor(connections * 0.75)
    this.#share = Math.max(1, Math.floor(this.#most / 3))
  }

  /**
   * Takes a place, for which it waits a little; the function that is returned gives it back, once.
   *
   * @throws {Refusal} 429 when there is none by then
   */
  async take(entity: string): Promise<() => void> {
    if (this.#hasRoom(entity)) this.#add(entity)
    else await this.#wait(entity)
    let held = true
    return () => {
      if (held) this.#giveBack(entity)
      held = false
    }
  }

  #hasRoom(entity: string): boolean {
    return this.#all < this.#most && (this.#taken.get(entity) ?? 0) < this.#share
  }

  #add(entity: string): void {
    this.#all++
    this.#taken.set(entity, (this.#taken.get(entity) ?? 0) + 1)
  }

  /** Resolves when the place is taken. */
  #wait(entity: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        entity,
        begin: () => {
          clearTimeout(timer)
          resolve()
        },
      }
      const timer = setTimeout(() => {
        this.#waiting.delete(waiting)
        reject(tooMany(entity))
      }, waitMs)
      this.#waiting.add(waiting)
    })
  }

  #giveBack(entity: string): void {
    this.#all--
    const rest = (this.#taken.get(entity) ?? 1) - 1
    if (rest > 0) this.#taken.set(entity, rest)
    else this.#taken.delete(entity)
    for (const waiting of this.#waiting) {
      if (!this.#hasRoom(waiting.entity)) continue
      this.#waiting.delete(waiting)
      this.#add(waiting.entity)
      waiting.begin()
      return
    }
  }
}

function tooMany(entity: string): Refusal {
  const detail = `Too many streams of ${entity} are under way, or of all entities; ask again when one has ended.`
  return new Refusal(429, detail, { 'Retry-After': retryAfterSeconds })
}
