import { sumStoredBytes } from '../../db/queries/entity-use.ts'
import { sumTraceBytes } from '../../db/tracing/stored-bytes.ts'
import type { Pool } from '../../db/pool.ts'
import { isDatabaseUnavailable } from '../../db/unavailable.ts'
import { FairSemaphore, PermitTimeout } from '../../lib/fair-semaphore.ts'
import { linger } from '../middleware/body.ts'
import type { RequestContext } from '../middleware/context.ts'
import { Refusal } from '../refusal.ts'
import { IncomingBytes, type Incoming } from './incoming-bytes.ts'
import { quotaExceeded } from './quota.ts'
import { turnOf, type Turn } from './turn.ts'

// For so long it is enough to know what was stored before, and what this process has added: others add too.
const keptMs = 5_000
// From this part of its limit on, what an entity has stored is asked for each time.
const near = 0.9
const mostKept = 10_000
// Large bodies that are written to the disk at once; the rest waits before its first byte is read, and small ones do not.
const receiving = { permits: 64, permitsPerKey: 16 }
const smallUpToBytes = 4 * 1024 * 1024
const longestWaitMs = 60_000

interface Known {
  training: number
  traces: number
  /** By this process since then. */
  added: number
  untilMs: number
}

/** What entities have stored, and what of theirs is coming in. */
export class StorageUse {
  readonly #pool: Pool
  readonly #tracing: Pool
  readonly #known = new Map<string, Known>()
  readonly #measuring = new Map<string, Promise<number>>()
  /** Bytes on their way in, by entity; one without any has no entry. */
  readonly #incoming: Incoming = new Map()
  readonly #turns = new FairSemaphore(receiving)

  constructor({ pool, tracing }: { pool: Pool; tracing: Pool }) {
    this.#pool = pool
    this.#tracing = tracing
  }

  /** What an entity has stored now. While the database of traces is away, these count as they were known last. */
  measure(entity: string): Promise<number> {
    const measuring = this.#measuring.get(entity) ?? this.#sum(entity).finally(() => this.#measuring.delete(entity))
    this.#measuring.set(entity, measuring)
    return measuring
  }

  /**
   * Lets a body in; a large one when it is its entity's turn. All that has come of it counts until it is released, so that
   * bodies side by side see each other; its announced length does at once, and so does `beside`, which lies there uncounted.
   *
   * @throws {Refusal} 403 when the entity may not store so much, 429 when its turn does not come
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
    const giveTurnBack = isSmall ? () => {} : await this.#takeTurn(turnOf(ctx))
    const { entity } = ctx.state.caller
    const { storedBytes: limit } = ctx.state.limits
    const announced = length ?? 0
    try {
      const uncounted = limit === Infinity ? 0 : await beside()
      const stored = uncounted + (await this.#measureNear(entity, limit, uncounted + announced))
      return new IncomingBytes({ entity, limit, stored, announced, giveTurnBack }, this.#incoming)
    } catch (error) {
      giveTurnBack()
      throw error
    }
  }

  /** Checks that an entity may store so many bytes more. @throws {Refusal} 403 */
  async requireRoom(entity: string, limit: number, bytes: number): Promise<void> {
    const stored = await this.#measureNear(entity, limit, bytes)
    if (stored + bytes > limit) throw quotaExceeded(entity, { stored, limit, bytes })
  }

  /** The same for what comes in many small parts: what is known may be some seconds old. @throws {Refusal} 403 */
  async requireTraceRoom({ state }: RequestContext, bytes: number): Promise<void> {
    const { storedBytes: limit } = state.limits
    const { entity } = state.caller
    const stored = (await this.#estimate(entity, limit)) + (this.#incoming.get(entity) ?? 0)
    if (stored + bytes > limit) throw quotaExceeded(entity, { stored, limit, bytes })
  }

  /** Notes what this process has stored of an entity's traces. */
  note(entity: string, bytes: number): void {
    const known = this.#known.get(entity)
    if (known) known.added += bytes
  }

  /** Traces of an entity were deleted: it is measured again when it stores the next ones. */
  forget(entity: string): void {
    this.#known.delete(entity)
  }

  async #takeTurn(turn: Turn): Promise<() => void> {
    try {
      return await this.#turns.acquire({ ...turn, timeoutMs: longestWaitMs })
    } catch (error) {
      if (!(error instanceof PermitTimeout)) throw error
      const detail = `Too many uploads of ${turn.key} are under way, or of all entities; send this one when another has ended.`
      throw new Refusal(429, detail, { 'Retry-After': '10' })
    }
  }

  /** What is stored; only near the limit it is asked for afresh. */
  async #measureNear(entity: string, limit: number, bytes: number): Promise<number> {
    const stored = await this.#estimate(entity, limit)
    return stored + bytes > near * limit ? this.measure(entity) : stored
  }

  #estimate(entity: string, limit: number): Promise<number> | number {
    if (limit === Infinity) return 0
    const known = this.#known.get(entity)
    const isFresh = known !== undefined && known.untilMs > performance.now()
    return isFresh ? known.training + known.traces + known.added : this.measure(entity)
  }

  async #sum(entity: string): Promise<number> {
    const [training, traces] = await Promise.all([sumStoredBytes(this.#pool, entity), this.#sumTraces(entity)])
    if (this.#known.size >= mostKept) this.#known.clear()
    this.#known.set(entity, { training, traces, added: 0, untilMs: performance.now() + keptMs })
    return training + traces
  }

  async #sumTraces(entity: string): Promise<number> {
    try {
      return await sumTraceBytes(this.#tracing, entity)
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error
      const known = this.#known.get(entity)
      return known ? known.traces + known.added : 0
    }
  }
}
