import { FairSemaphore, PermitTimeout } from '../../lib/fair-semaphore.ts'
import type { Turn } from '../accounts/limits/turn.ts'
import { Refusal } from '../refusal.ts'

// Pages are read in less: who waits longer waits for somebody who reads slowly.
const timeoutMs = 5_000
const retryAfterSeconds = '1'

/**
 * The answers that are read from the database as fast as their clients take them. Each holds a connection for as long, so
 * there are fewer than connections: what is brief always finds one. An entity has a share of them, and entities take turns.
 */
export class OpenStreams {
  readonly #permits: FairSemaphore

  constructor(connections: number) {
    const permits = Math.floor(connections * 0.75)
    this.#permits = new FairSemaphore({ permits, permitsPerKey: Math.max(1, Math.floor(permits / 3)) })
  }

  /**
   * Takes a place, for which it waits a little; the function that is returned gives it back, once.
   *
   * @throws {Refusal} 429 when there is none by then
   */
  async take(turn: Turn): Promise<() => void> {
    try {
      return await this.#permits.acquire({ ...turn, timeoutMs })
    } catch (error) {
      throw error instanceof PermitTimeout ? tooMany(turn.key) : error
    }
  }
}

function tooMany(entity: string): Refusal {
  const detail = `Too many streams of ${entity} are under way, or of all entities; ask again when one has ended.`
  return new Refusal(429, detail, { 'Retry-After': retryAfterSeconds })
}
