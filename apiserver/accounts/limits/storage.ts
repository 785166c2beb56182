import type { Pool } from '../../../db/pool.ts'
import { linger } from '../../../lib/http/body.ts'
import type { RequestContext } from '../context.ts'
import { IncomingBytes } from './incoming-bytes.ts'
import { quotaExceeded } from './quota.ts'
import { StorageMeter } from './storage-meter.ts'

/** The size of an entity's incoming traces, and how much it may store. */
interface TracesSize {
  entity: string
  limit: number
  announced: number
}

/** What entities have stored, and their incoming bytes. */
export class StorageUse {
  readonly #meter: StorageMeter

  constructor(pools: { pool: Pool; tracing: Pool }) {
    this.#meter = new StorageMeter(pools)
  }

  /** Measures what an entity has stored. */
  measure(entity: string): Promise<number> {
    return this.#meter.measure(entity)
  }

  /**
   * Accepts a body. Its bytes count until they are released, so that concurrent bodies see each other. The announced
   * length counts at once, and so does `beside`: bytes in the store that are counted nowhere else.
   *
   * @throws {HttpError} 403 if the entity may not store so much
   */
  async receive(ctx: RequestContext, beside: () => Promise<number> = async () => 0): Promise<IncomingBytes> {
    const { entity } = ctx.state.caller
    const { storedBytes: limit } = ctx.state.limits
    const announced = ctx.request.length ?? 0
    try {
      const uncounted = limit === Infinity ? 0 : await beside()
      const use = await this.#meter.estimateWith(entity, limit, uncounted + announced)
      return new IncomingBytes({ entity, limit, use, beside: uncounted, announced })
    } catch (error) {
      linger(ctx)
      throw error
    }
  }

  /**
   * Accepts a request that adds traces. There are many small ones, so the known use may be some seconds old. The length
   * counts until it is kept or released.
   *
   * @throws {HttpError} 403
   */
  async receiveTraces(ctx: RequestContext): Promise<IncomingBytes> {
    const { storedBytes: limit } = ctx.state.limits
    return this.admitTraces({ entity: ctx.state.caller.entity, limit, announced: ctx.request.length ?? 0 })
  }

  /** Does the same for traces without a request of their own. @throws {HttpError} 403 */
  async admitTraces({ entity, limit, announced }: TracesSize): Promise<IncomingBytes> {
    const use = await this.#meter.estimate(entity, limit)
    return new IncomingBytes({ entity, limit, use, beside: 0, announced })
  }

  /** Checks that an entity may store this many more bytes. @throws {HttpError} 403 */
  async requireRoom(entity: string, limit: number, bytes: number): Promise<void> {
    const { stored } = await this.#meter.estimateWith(entity, limit, bytes)
    if (stored + bytes > limit) throw quotaExceeded(entity, { stored, limit, bytes })
  }

  /** Records bytes that this process has stored for an entity. */
  record(entity: string, bytes: number): void {
    this.#meter.record(entity, bytes)
  }
}
