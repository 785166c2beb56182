import { HttpError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import type { RequestContext } from '../context.ts'
import { LocalPermits } from './permits/local-permits.ts'
import { PermitsExhausted, type Permits } from './permits/permits.ts'

const retryAfterSeconds = 1

/** The words of the error when no slot is left. */
export interface SlotNames {
  limit: string
  /** As in "acme has 8 concurrent chats". */
  held: string
  /** As in "Send this request again when one has ended". */
  advice: string
}

/** Opens the permits of a limit by its name. */
export type OpenPermits = (limitName: string) => Permits

const openLocalPermits: OpenPermits = () => new LocalPermits()

/** Counts the concurrent work of one kind of each entity in this replica, up to the entity's limit. */
export class Slots {
  readonly #permits: Permits
  readonly #names: SlotNames

  constructor(names: SlotNames, openPermits: OpenPermits) {
    this.#permits = openPermits(names.limit)
    this.#names = names
  }

  /**
   * Takes a slot if this process has a permit. The returned function releases it; repeated calls have no effect. If
   * this process has none, `take` asks the other processes.
   */
  tryTake(entity: string, limit: number): (() => void) | undefined {
    return this.#permits.tryAcquire(entity, limit)
  }

  /** Takes a slot, if necessary with a permit of another process. @throws {HttpError} 429 if all slots are taken */
  async take(entity: string, limit: number): Promise<() => void> {
    try {
      return this.tryTake(entity, limit) ?? (await this.#permits.acquire(entity, limit))
    } catch (error) {
      if (!(error instanceof PermitsExhausted)) throw error
      const { limit: name, held, advice } = this.#names
      const detail = `${entity} has ${error.inUse} ${held}, and its limit ${name} is ${limit}. `
      throw new HttpError(errors.concurrency_limit_exceeded, `${detail}${advice}, or ask for a higher limit.`, {
        retryAfterSeconds,
      })
    }
  }

  /** Takes a slot until the response is sent or the client has left. @throws {HttpError} as `take` does */
  async hold({ state, res }: RequestContext, limit: number): Promise<void> {
    const release = await this.take(state.caller.entity, limit)
    res.once('close', release)
    if (res.closed) release()
  }
}

/** The slots of chats, streamed or not. */
export function createChatSlots(openPermits = openLocalPermits): Slots {
  return new Slots(
    {
      limit: 'concurrent_streams',
      held: 'concurrent chats',
      advice: 'Send this request again when one has ended',
    },
    openPermits,
  )
}

/** The slots of clients that follow or wait for events of jobs. */
export function createEventSlots(openPermits = openLocalPermits): Slots {
  return new Slots({ limit: 'event_streams', held: 'open event streams', advice: 'Close one' }, openPermits)
}
