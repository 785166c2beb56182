import { Readable } from 'node:stream'
import type { RequestContext } from '../middleware/context.ts'
import type { TraceDeps } from './deps.ts'

// A client that takes nothing for so long has left, or should have.
const stallMs = 60_000

/**
 * Answers with what a generator gives, as fast as the client takes it. Its first chunk is waited for: what fails until
 * then is told as an error. The generator is always ended: also when the client leaves or its key ends.
 */
export async function sendChunks(
  ctx: RequestContext,
  { main }: Pick<TraceDeps, 'main'>,
  { type, chunks }: { type: string; chunks: AsyncGenerator<string> },
): Promise<void> {
  const begun = new Begun(chunks, await chunks.next())
  const body = Readable.from(begun, { objectMode: false })
  const ended = main.openAnswers.follow(ctx.state.caller.keyId, ctx.res)
  ended.addEventListener('abort', () => body.destroy())
  ctx.res.setTimeout(stallMs, () => body.destroy())
  ctx.type = type
  ctx.body = body
}

/** A generator whose first chunk is there. Unlike one that has not begun, it can always be ended. */
class Begun implements AsyncIterableIterator<string> {
  readonly #chunks: AsyncGenerator<string>
  #first: IteratorResult<string> | undefined

  constructor(chunks: AsyncGenerator<string>, first: IteratorResult<string>) {
    this.#chunks = chunks
    this.#first = first
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<string>> {
    const first = this.#first
    this.#first = undefined
    return first ?? this.#chunks.next()
  }

  return(): Promise<IteratorResult<string>> {
    return this.#chunks.return(undefined)
  }
}
