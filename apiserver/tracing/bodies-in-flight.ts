import { openBody } from '../middleware/body.ts'
import type { RequestContext } from '../middleware/context.ts'
import { Refusal, unavailable } from '../refusal.ts'

// A body is in memory two or three times until its rows are written; a process of the chart has 2 GiB.
const usualMostBytes = 192 * 1024 * 1024
const retryAfterSeconds = 1

/**
 * Bounds the bytes of bodies that are in memory at once, of all and, to a quarter of that, of an entity: what would be too
 * much is refused for a moment, and clients send it again.
 */
export class BodiesInFlight {
  readonly #mostBytes: number
  /** An entity without any has no entry. */
  readonly #byEntity = new Map<string, number>()
  #bytes = 0

  constructor(mostBytes = usualMostBytes) {
    this.#mostBytes = mostBytes
  }

  /**
   * Reads a request's JSON body, which counts until its answer is out.
   *
   * @throws {Refusal} 429 or 503 when there is too much, and as `openBody` does
   */
  async read(ctx: RequestContext, limitBytes: number): Promise<Buffer> {
    return this.begin(ctx).take(openBody(ctx, limitBytes))
  }

  /** A body of a request that its caller reads, maybe in several forms. */
  begin({ state, res }: RequestContext): HeldBody {
    const body = new HeldBody((own, more) => this.#add(state.caller.entity, own, more))
    if (res.closed) body.release()
    else res.once('close', () => body.release())
    return body
  }

  #add(entity: string, own: number, more: number): void {
    const ofEntity = (this.#byEntity.get(entity) ?? 0) + more
    if (more > 0) {
      // What is alone is taken, however large it becomes when it is decompressed.
      if (ofEntity > own + more && ofEntity > this.#mostBytes / 4) throw tooMany(entity)
      if (this.#bytes + more > this.#mostBytes)
        throw unavailable('Too many bytes are on their way at once.', retryAfterSeconds)
    }
    this.#bytes += more
    if (ofEntity > 0) this.#byEntity.set(entity, ofEntity)
    else this.#byEntity.delete(entity)
  }
}

function tooMany(entity: string): Refusal {
  const detail = `Too many bytes of ${entity} are on their way at once.`
  return new Refusal(429, detail, { 'Retry-After': String(retryAfterSeconds) })
}

/** The bytes of one request that are in memory. */
class HeldBody {
  readonly #add: (own: number, more: number) => void
  #own = 0
  #isReleased = false

  constructor(add: (own: number, more: number) => void) {
    this.#add = add
  }

  /** All bytes of a body; when that fails, none are held. */
  async take(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
    const taken: Buffer[] = []
    try {
      for await (const chunk of chunks) {
        this.#count(chunk.length)
        taken.push(chunk)
      }
    } catch (error) {
      this.drop(this.#own)
      throw error
    }
    return Buffer.concat(taken)
  }

  /** Bytes that nobody needs any more. */
  drop(bytes: number): void {
    this.#count(-bytes)
  }

  /** The answer is out. */
  release(): void {
    this.drop(this.#own)
    this.#isReleased = true
  }

  #count(more: number): void {
    if (this.#isReleased) return
    this.#add(this.#own, more)
    this.#own += more
  }
}
