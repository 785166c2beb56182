import { FairSemaphore } from '../../../../lib/fair-semaphore.ts'
import { PermitsExhausted, type Permits } from './permits.ts'

/** Permits of a single process. */
export class LocalPermits implements Permits {
  readonly #semaphore = new FairSemaphore({ permits: Infinity })

  tryAcquire(entity: string, limit: number): (() => void) | undefined {
    return this.#semaphore.tryAcquire({ key: entity, maxOfKey: limit })
  }

  /** All other permits are in use, because no other process has any. */
  async acquire(entity: string): Promise<() => void> {
    throw new PermitsExhausted(this.#semaphore.heldBy(entity))
  }
}
