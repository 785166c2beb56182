import { BudgetExceeded, MemoryBudget, type MemoryReservation } from '../../lib/memory-budget.ts'
import type { JsonDocument } from '../json/document.ts'
import { estimateValueBytes } from '../json/outline.ts'
import { openBody, parseBody } from '../middleware/body.ts'
import type { RequestContext } from '../middleware/context.ts'
import { Refusal, unavailable } from '../refusal.ts'

// A body is in memory two or three times until it is answered; a process of the chart has 2 GiB.
const defaultMaxBytes = 192 * 1024 * 1024
const retryAfterSeconds = 1

/**
 * Bounds the memory of all requests of a process together and, to a quarter of that, of an entity: bodies, and what is
 * made of them. What would be too much is refused for a moment, and clients send it again.
 */
export class RequestMemory {
  readonly #budget: MemoryBudget
  readonly #held = new WeakMap<RequestContext['res'], HeldMemory>()

  constructor(maxBytes = defaultMaxBytes) {
    this.#budget = new MemoryBudget(maxBytes)
  }

  /** What a request reserves, until its answer is out: one reservation, however often it is asked for. */
  open({ state, res }: RequestContext): HeldMemory {
    const opened = this.#held.get(res)
    if (opened) return opened
    const { entity } = state.caller
    const held = new HeldMemory(entity, this.#budget.open(entity))
    this.#held.set(res, held)
    if (res.closed) held.release()
    else res.once('close', () => held.release())
    return held
  }

  /**
   * Reads a request's JSON body, which counts until its answer is out.
   *
   * @throws {Refusal} 429 or 503 when there is too much, and as `openBody` does
   */
  async readBody(ctx: RequestContext, limitBytes: number): Promise<Buffer> {
    return this.open(ctx).read(openBody(ctx, limitBytes))
  }

  /** The same, parsed: its values count too, before they are made. @throws {Refusal} as `parseBody` does, too */
  async readJson(ctx: RequestContext, limitBytes: number): Promise<JsonDocument> {
    const held = this.open(ctx)
    const bytes = await held.read(openBody(ctx, limitBytes))
    return parseBody(bytes, (outline) => held.add(estimateValueBytes(bytes.length, outline)))
  }
}

/** The memory of one request. */
export class HeldMemory {
  readonly #entity: string
  readonly #reservation: MemoryReservation

  constructor(entity: string, reservation: MemoryReservation) {
    this.#entity = entity
    this.#reservation = reservation
  }

  /** Reserves more. @throws {Refusal} 429 when the entity has used up its share, 503 when all have */
  add(bytes: number): void {
    try {
      this.#reservation.add(bytes)
    } catch (error) {
      throw error instanceof BudgetExceeded ? toRefusal(this.#entity, error) : error
    }
  }

  /** Gives some back: nobody needs them any more. */
  drop(bytes: number): void {
    this.#reservation.drop(bytes)
  }

  /** Gives all back: the answer is out. */
  release(): void {
    this.#reservation.release()
  }

  /** All bytes of a body; when that fails, none of them count. @throws {Refusal} as `add` does */
  async read(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
    const taken: Buffer[] = []
    let size = 0
    try {
      for await (const chunk of chunks) {
        this.add(chunk.length)
        size += chunk.length
        taken.push(chunk)
      }
    } catch (error) {
      this.drop(size)
      throw error
    }
    return Buffer.concat(taken)
  }
}

function toRefusal(entity: string, { isOfKey, maxBytes }: BudgetExceeded): Refusal {
  if (!isOfKey) {
    const detail = `All requests together take more than the ${maxBytes} bytes of memory that there are for them.`
    return unavailable(detail, retryAfterSeconds)
  }
  const detail = `The requests of ${entity} that are under way take more than the ${maxBytes} bytes of memory that they may.`
  return new Refusal(429, `${detail} Send this one again when another has been answered.`, {
    'Retry-After': String(retryAfterSeconds),
  })
}
