import { HttpError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import type { Pool } from '../../../db/pool.ts'
import { FairSemaphore, PermitTimeout } from '../../../lib/fair-semaphore.ts'
import { linger } from '../../../lib/http/body.ts'
import type { RequestContext } from '../context.ts'
import { IncomingBytes } from './incoming-bytes.ts'
import { quotaExceeded } from './quota.ts'
import { StorageMeter } from './storage-meter.ts'
import { turnOf, type Turn } from './turn.ts'

// Large bodies that are written to the disk at once; the rest waits before its first byte is read, and small ones do not.
const receiving = { permits: 64, permitsPerKey: 16 }
const smallUpToBytes = 4 * 1024 * 1024
const maxWaitMs = 60_000

/** How large an entity's traces are that come in, and how much it may store. */
interface TracesSize {
  entity: string
  limit: number
  announced: number
}

/** What entities have stored, and what of theirs is coming in. */
export class StorageUse {
  readonly #meter: StorageMeter
  readonly #turns = new FairSemaphore(receiving)

  constructor(pools: { pool: Pool; tracing: Pool }) {
    this.#meter = new StorageMeter(pools)
  }

  /** What an entity has stored now. */
  measure(entity: string): Promise<number> {
    return this.#meter.measure(entity)
  }

  /**
   * Lets a body in; a large one when it is its entity's turn. All that has come of it counts until it is released, so that
   * bodies side by side see each other; its announced length does at once, and so does `beside`, which lies there uncounted.
   *
   * @throws {HttpError} 403 when the entity may not store so much, 429 when its turn does not come
   */
  async receive(ctx: RequestContext, beside: () => Promise<number> = async () => 0): Promise<IncomingBytes> {
    try {
      return await this.#receive(ctx, beside)
    } catch (error) {
      linger(ctx)
      throw error
    }
  }

  async #receive(ctx: RequestContext, beside: () => Promise<number>): Promise<IncomingBytes> {
    const { length } = ctx.request
    const isSmall = length !== undefined && length <= smallUpToBytes
    const releaseTurn = isSmall ? () => {} : await this.#takeTurn(turnOf(ctx.state.caller))
    const { entity } = ctx.state.caller
    const { storedBytes: limit } = ctx.state.limits
    const announced = length ?? 0
    try {
      const uncounted = limit === Infinity ? 0 : await beside()
      const use = await this.#meter.estimateWith(entity, limit, uncounted + announced)
      return new IncomingBytes({ entity, limit, use, beside: uncounted, announced, releaseTurn })
    } catch (error) {
      releaseTurn()
      throw error
    }
  }

  /**
   * Lets a request in that adds to traces, of which many small ones come: what is known may be some seconds old. Its length
   * counts until it is kept or released.
   *
   * @throws {HttpError} 403
   */
  async receiveTraces(ctx: RequestContext): Promise<IncomingBytes> {
    const { storedBytes: limit } = ctx.state.limits
    return this.admitTraces({ entity: ctx.state.caller.entity, limit, announced: ctx.request.length ?? 0 })
  }

  /** The same for traces that come with no request of their own. @throws {HttpError} 403 */
  async admitTraces({ entity, limit, announced }: TracesSize): Promise<IncomingBytes> {
    const use = await this.#meter.estimate(entity, limit)
    return new IncomingBytes({ entity, limit, use, beside: 0, announced, releaseTurn: () => {} })
  }

  /** Checks that an entity may store so many bytes more. @throws {HttpError} 403 */
  async requireRoom(entity: string, limit: number, bytes: number): Promise<void> {
    const { stored } = await this.#meter.estimateWith(entity, limit, bytes)
    if (stored + bytes > limit) throw quotaExceeded(entity, { stored, limit, bytes })
  }

  /** Notes what this process has stored of an entity. */
  record(entity: string, bytes: number): void {
    this.#meter.record(entity, bytes)
  }

  async #takeTurn(turn: Turn): Promise<() => void> {
    try {
      return await this.#turns.acquire({ ...turn, timeoutMs: maxWaitMs })
    } catch (error) {
      if (!(error instanceof PermitTimeout)) throw error
      const detail = `Too many uploads of ${turn.key}, or of all entities, are in progress. Send this one again when another has ended.`
      throw new HttpError(errors.concurrency_limit_exceeded, detail, { retryAfterSeconds: 10 })
    }
  }
}
