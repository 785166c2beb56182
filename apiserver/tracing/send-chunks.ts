import { Readable } from 'node:stream'
import { turnOf } from '../accounts/limits/turn.ts'
import type { RequestContext } from '../accounts/context.ts'
import type { RequestMemory } from '../accounts/limits/request-memory.ts'
import type { RevocableResponses } from '../accounts/keys/revocable-responses.ts'
import type { StreamSemaphore } from './stream-semaphore.ts'
import type { ProjectDeps } from './projects.ts'
import { streamBytes } from './read-memory.ts'
import { cutLong } from './write-list.ts'

/** What answers are streamed with. */
export interface StreamDeps {
  memory: RequestMemory
  responses: RevocableResponses
  /** Answers that hold a connection of the pool. */
  streams: StreamSemaphore
}

/** What queries are answered with. */
export interface QueryDeps extends ProjectDeps, StreamDeps {}

// A client that takes nothing of what is there for so long has left, or should have.
const defaultStallMs = 30_000
// A client that takes a little now and then is not waited for without end either.
const defaultDeadlineMs = 60 * 60_000
// While rows are read as of one moment, the database keeps all that was replaced since. A million calls take some minutes.
const maxReadMs = 15 * 60_000

/** An answer that is made while it is sent. */
interface Chunks {
  type: string
  chunks: AsyncGenerator<string>
  stallMs?: number
  deadlineMs?: number
}

/**
 * Answers with what a generator reads from the database, as `pipeChunks` does. It has a place among the open streams
 * until it has ended, and memory for its parts until the answer is out. Nothing is read before it has both.
 *
 * @throws {HttpError} 429 or 503 when there is none
 */
export async function sendChunks(
  ctx: RequestContext,
  { memory, responses, streams }: StreamDeps,
  answer: Chunks,
): Promise<void> {
  memory.open(ctx).add(streamBytes)
  const release = await streams.acquire(turnOf(ctx.state.caller))
  await pipeChunks(ctx, responses, {
    deadlineMs: maxReadMs,
    ...answer,
    chunks: releaseAfterwards(answer.chunks, release),
  })
}

/**
 * Answers with what a generator gives, as fast as the client takes it. Its first chunk is waited for: what fails until
 * then is told as an error. The generator is always ended: also when the client leaves or its key ends.
 */
export async function pipeChunks(
  ctx: RequestContext,
  responses: RevocableResponses,
  { type, chunks, stallMs = defaultStallMs, deadlineMs = defaultDeadlineMs }: Chunks,
): Promise<void> {
  const pieces = cutLong(chunks)
  const begun = new Begun(pieces, await pieces.next())
  if (ctx.res.closed) return void (await begun.return())
  const body = Readable.from(begun, { objectMode: false })
  const end = () => {
    body.destroy()
    ctx.res.destroy()
  }
  // Everybody who must know that it has ended listens for it; from eleven on Node warns of a leak.
  ctx.res.setMaxListeners(20)
  const deadline = setTimeout(end, deadlineMs)
  ctx.res.once('close', () => clearTimeout(deadline))
  responses.track(ctx.state.caller.keyId, ctx.res).addEventListener('abort', end)
  // The connection is quiet too while nothing is there to be sent; it is asked again after the next chunk then.
  ctx.res.setTimeout(stallMs, () => ctx.res.writableLength > 0 && end())
  ctx.type = type
  ctx.body = body
}

async function* releaseAfterwards(chunks: AsyncGenerator<string>, release: () => void): AsyncGenerator<string> {
  try {
    yield* chunks
  } finally {
    release()
  }
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
