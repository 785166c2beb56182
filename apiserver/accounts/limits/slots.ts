import { HttpError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import { FairSemaphore } from '../../../lib/fair-semaphore.ts'
import type { RequestContext } from '../context.ts'

const retryAfterSeconds = 1

/** The words of the error when no place is left. */
export interface SlotNames {
  limit: string
  /** As in "acme has 8 concurrent chats". */
  held: string
  /** As in "Send this request again when one has ended". */
  advice: string
}

/** What each entity has under way of one kind in this process, up to its own limit. */
export class Slots {
  readonly #semaphore = new FairSemaphore({ permits: Infinity })
  readonly #names: SlotNames

  constructor(names: SlotNames) {
    this.#names = names
  }

  /**
   * Takes a place; the function that is returned gives it back, once, however often it is called.
   *
   * @throws {HttpError} 429 when all places are taken
   */
  take(entity: string, limit: number): () => void {
    const release = this.#semaphore.tryAcquire({ key: entity, maxOfKey: limit })
    if (release) return release
    const { limit: name, held, advice } = this.#names
    const detail = `${entity} has ${this.#semaphore.heldBy(entity)} ${held}, and its limit ${name} is ${limit}. `
    throw new HttpError(errors.concurrency_limit_exceeded, `${detail}${advice}, or ask for a higher limit.`, {
      retryAfterSeconds,
    })
  }

  /** Takes a place until a request's answer is out or its client has left. @throws {HttpError} as `take` does */
  hold({ state, res }: RequestContext, limit: number): void {
    const release = this.take(state.caller.entity, limit)
    res.once('close', release)
    if (res.closed) release()
  }
}

/** Of chats, streamed or not. */
export function createChatSlots(): Slots {
  return new Slots({
    limit: 'concurrent_streams',
    held: 'concurrent chats',
    advice: 'Send this request again when one has ended',
  })
}

/** Of clients that follow events of jobs, or wait for them. */
export function createEventSlots(): Slots {
  return new Slots({ limit: 'event_streams', held: 'open event streams', advice: 'Close one' })
}
