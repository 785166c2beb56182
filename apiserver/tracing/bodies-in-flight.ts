import { openBody } from '../middleware/body.ts'
import type { RequestContext } from '../middleware/context.ts'
import { unavailable } from '../refusal.ts'

// A body is in memory two or three times until its rows are written; a process of the chart has 2 GiB.
const usualMostBytes = 192 * 1024 * 1024
const retryAfterSeconds = 1

/**
 * Bounds the bytes of bodies that are in memory at once, whoever sends them: what would be too much is refused for a
 * moment, and clients send it again.
 */
export class BodiesInFlight {
  readonly #mostBytes: number
  #bytes = 0

  constructor(mostBytes = usualMostBytes) {
    this.#mostBytes = mostBytes
  }

  /**
   * Reads a request's JSON body, which counts until its answer is out.
   *
   * @throws {Refusal} 503 when there is too much, and as `openBody` does
   */
  async read(ctx: RequestContext, limitBytes: number): Promise<Buffer> {
    const chunks: Buffer[] = []
    let own = 0
    ctx.res.once('close', () => (this.#bytes -= own))
    for await (const chunk of openBody(ctx, limitBytes)) {
      own += chunk.length
      this.#bytes += chunk.length
      if (this.#bytes > this.#mostBytes)
        throw unavailable('Too many bytes are on their way at once.', retryAfterSeconds)
      chunks.push(chunk)
    }
    return Buffer.concat(chunks)
  }
}
