import { FairSemaphore } from '../../../../lib/fair-semaphore.ts'
import { PermitsExhausted, type Permits } from './permits.ts'

/** Permits that no other process shares. */
export class LocalPermits implements Permits {
  readonly #semaphore = new FairSemaphore({ permits: Infinity })

  tryAcquire(entity: string, limit: number): (() => void) | undefined {
    return this.#semaphore.tryAcquire({ key: entity, maxOfKey: limit })
  }

  /** Nobody else has one: what is not at hand is in use. */
  async acquire(entity: string): Promise<() => void> {
    throw new PermitsExhausted(this.#semaphore.heldBy(entity))
  }
}
