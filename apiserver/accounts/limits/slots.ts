import { FairSemaphore } from '../../../lib/fair-semaphore.ts'
import { HttpError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import type { RequestContext } from '../context.ts'

const retryAfterSeconds = 1

/** The words of the error when no slot is left. */
interface SlotNames {
  limit: string
  /** As in "acme has 8 concurrent chats". */
  held: string
  /** As in "Send this request again when one has ended". */
  advice: string
}

/** Counts the concurrent work of one kind of each entity in this process, up to the entity's limit. */
export class Slots {
  readonly #permits = new FairSemaphore({ permits: Infinity })
  readonly #names: SlotNames

  constructor(names: SlotNames) {
    this.#names = names
  }

  /** Takes a slot. The returned function releases it, once. @throws {HttpError} 429 if all slots are taken */
  take(entity: string, limit: number): () => void {
    const release = this.#permits.tryAcquire({ key: entity, maxOfKey: limit })
    if (release) return release
    const { limit: name, held, advice } = this.#names
    const detail = `${entity} has ${this.#permits.heldBy(entity)} ${held}, and its limit ${name} is ${limit}. `
    throw new HttpError(errors.concurrency_limit_exceeded, `${detail}${advice}, or ask for a higher limit.`, {
      retryAfterSeconds,
    })
  }

  /** Takes a slot until the response is sent or the client has left. @throws {HttpError} as `take` does */
  hold({ state, res }: RequestContext, limit: number): void {
    const release = this.take(state.caller.entity, limit)
    res.once('close', release)
    if (res.closed) release()
  }
}

/** The slots of chats, streamed or not. */
export function createChatSlots(): Slots {
  return new Slots({
    limit: 'concurrent_streams',
    held: 'concurrent chats',
    advice: 'Send this request again when one has ended',
  })
}

/** The slots of clients that follow or wait for events of jobs. */
export function createEventSlots(): Slots {
  return new Slots({ limit: 'event_streams', held: 'open event streams', advice: 'Close one' })
}
