import { HttpError } from '../../../lib/http/http-error.ts'
import { errors, limitErrors } from '../../errors/table.ts'
import type Koa from 'koa'
import { BudgetExceeded, MemoryBudget, type MemoryReservation } from '../../../lib/memory-budget.ts'
import type { AcceptOutline, JsonDocument } from '../../../lib/json/document.ts'
import { estimateValueBytes } from '../../../lib/json/outline.ts'
import { openBody, parseBody } from '../../../lib/http/body.ts'
import type { RequestContext } from '../context.ts'
import { LimitError } from './limit-error.ts'
import { memoryLimits } from './table.ts'

/**
 * Bounds the memory of a process's requests: their bodies, and the values that they are parsed into. One entity may use
 * a quarter of it, or seven eighths with a single request. A request beyond the bound is rejected for a moment, and
 * clients retry it.
 */
export class RequestMemory {
  readonly #budget: MemoryBudget
  readonly #held = new WeakMap<RequestContext['res'], RequestReservation>()
  /** Requests whose handlers are running. */
  readonly #working = new WeakSet<RequestContext['res']>()

  constructor(maxBytes: number = memoryLimits.request_memory.bytes) {
    this.#budget = new MemoryBudget(maxBytes)
  }

  /** Keeps a request's reservation until its handler has ended. If the client leaves, the handler still continues. */
  readonly keepWhileWorking: Koa.Middleware = async ({ res }, next) => {
    this.#working.add(res)
    try {
      await next()
    } finally {
      this.#working.delete(res)
      this.#releaseIdle(res)
    }
  }

  /** Opens a request's reservation until its response is sent. Repeated calls return the same one. */
  open({ state, res }: RequestContext): RequestReservation {
    const opened = this.#held.get(res)
    if (opened) return opened
    const held = this.reserve(state.caller.entity)
    this.#held.set(res, held)
    res.once('close', () => this.#releaseIdle(res))
    this.#releaseIdle(res)
    return held
  }

  /** Opens a reservation of an entity until it is released. */
  reserve(entity: string): RequestReservation {
    return new RequestReservation(entity, this.#budget.open(entity))
  }

  #releaseIdle(res: RequestContext['res']): void {
    if (res.closed && !this.#working.has(res)) this.#held.get(res)?.release()
  }

  /**
   * Reads and parses a request's JSON body. The body counts until the response is sent. Its values are counted before
   * they are built, and `accept` may reject them.
   *
   * @throws {HttpError} 413, 429 or 503 if there is not enough memory, and as `openBody` and `parseBody` do
   */
  async readJson(ctx: RequestContext, limitBytes: number, accept?: AcceptOutline): Promise<JsonDocument> {
    const held = this.open(ctx)
    const bytes = await held.read(openBody(ctx, limitBytes))
    return parseBody(bytes, (outline) => {
      accept?.(outline)
      held.add(estimateValueBytes(bytes.length, outline))
    })
  }
}

/** The reserved memory of one request. */
export class RequestReservation {
  readonly #entity: string
  readonly #reservation: MemoryReservation

  constructor(entity: string, reservation: MemoryReservation) {
    this.#entity = entity
    this.#reservation = reservation
  }

  /**
   * Reserves more bytes. @throws {HttpError} 413 if it is too much for one request, 429 for the entity, 503 for the
   * process
   */
  add(bytes: number): void {
    try {
      this.#reservation.add(bytes)
    } catch (error) {
      throw error instanceof BudgetExceeded ? toHttpError(this.#entity, error) : error
    }
  }

  /** Releases some bytes. */
  drop(bytes: number): void {
    this.#reservation.drop(bytes)
  }

  /** Releases all bytes, when the response is sent. */
  release(): void {
    this.#reservation.release()
  }

  /** Reads all bytes of a body. If that fails, none of them count. @throws {HttpError} as `add` does */
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

function toHttpError(entity: string, { scope, maxBytes }: BudgetExceeded): HttpError {
  if (scope === 'reservation')
    return new HttpError(
      errors.request_memory_exceeded,
      `This request needs more than ${maxBytes} bytes of memory, the maximum of one request. Send less data in one request.`,
    )
  if (scope === 'all') {
    const detail = `The requests in progress use all ${maxBytes} bytes of memory for requests. Send this request again later.`
    return new LimitError('request_memory', detail)
  }
  const detail = `The requests in progress of ${entity} would use more than ${maxBytes} bytes of memory, the share of one entity.`
  const { memory_limit_exceeded: error } = limitErrors
  return new LimitError('request_memory', `${detail} Send this request again when another one has ended.`, { error })
}
