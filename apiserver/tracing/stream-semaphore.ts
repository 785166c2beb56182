import { HttpError } from '../../lib/http/http-error.ts'
import { errors } from '../errors/table.ts'
import { FairSemaphore, PermitTimeout } from '../../lib/fair-semaphore.ts'
import type { Turn } from '../accounts/limits/turn.ts'

// A page is read in less time. Only slow clients hold permits for longer.
const timeoutMs = 5_000
const retryAfterSeconds = 1

/**
 * A semaphore of responses that are read from the database as fast as their clients receive them. Each of these
 * responses holds a connection. There are fewer permits than connections, so that short queries always find a
 * connection. Each entity has a share of the permits, and entities take turns.
 */
export class StreamSemaphore {
  readonly #permits: FairSemaphore

  constructor(connections: number) {
    const permits = Math.floor(connections * 0.75)
    this.#permits = new FairSemaphore({ permits, permitsPerKey: Math.max(1, Math.floor(permits / 3)) })
  }

  /**
   * Waits up to five seconds for a permit. The returned function releases it, once.
   *
   * @throws {HttpError} 429 when no permit is free by then
   */
  async acquire(turn: Turn): Promise<() => void> {
    try {
      return await this.#permits.acquire({ ...turn, timeoutMs })
    } catch (error) {
      throw error instanceof PermitTimeout ? tooMany(turn.key) : error
    }
  }
}

function tooMany(entity: string): HttpError {
  const detail = `Too many streams of ${entity}, or of all entities, are in progress. Send this request again when one has ended.`
  return new HttpError(errors.concurrency_limit_exceeded, detail, { retryAfterSeconds })
}
