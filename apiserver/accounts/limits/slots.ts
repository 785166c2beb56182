import { HttpError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import type { RequestContext } from '../context.ts'
import { LocalPermits } from './permits/local-permits.ts'
import { PermitsExhausted, type Permits } from './permits/permits.ts'

const retryAfterSeconds = 1

/** The words of the error when no place is left. */
export interface SlotNames {
  limit: string
  /** As in "acme has 8 concurrent chats". */
  held: string
  /** As in "Send this request again when one has ended". */
  advice: string
}

/** Where the permits of a limit come from, by its name. */
export type OpenPermits = (limitName: string) => Permits

const openLocalPermits: OpenPermits = () => new LocalPermits()

/** What each entity has under way of one kind in this replica, up to its own limit. */
export class Slots {
  readonly #permits: Permits
  readonly #names: SlotNames

  constructor(names: SlotNames, openPermits: OpenPermits) {
    this.#permits = openPermits(names.limit)
    this.#names = names
  }

  /**
   * Takes a place if this process knows of one; the function that is returned gives it back, once, however often it is
   * called. Where there is none, `take` asks the other processes.
   */
  tryTake(entity: string, limit: number): (() => void) | undefined {
    return this.#permits.tryAcquire(entity, limit)
  }

  /** Takes a place of all that there are. @throws {HttpError} 429 when all places are taken */
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

  /** Takes a place until a request's answer is out or its client has left. @throws {HttpError} as `take` does */
  async hold({ state, res }: RequestContext, limit: number): Promise<void> {
    const release = await this.take(state.caller.entity, limit)
    res.once('close', release)
    if (res.closed) release()
  }
}

/** Of chats, streamed or not. */
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

/** Of clients that follow events of jobs, or wait for them. */
export function createEventSlots(openPermits = openLocalPermits): Slots {
  return new Slots({ limit: 'event_streams', held: 'open event streams', advice: 'Close one' }, openPermits)
}
