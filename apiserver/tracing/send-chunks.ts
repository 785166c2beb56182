import { Readable } from 'node:stream'
import { runForAnswer } from '../../lib/request-scope.ts'
import type { RequestContext } from '../accounts/context.ts'
import type { CostOption } from '../accounts/limits/admission.ts'
import type { RequestMemory } from '../accounts/limits/request-memory.ts'
import type { RevocableResponses } from '../accounts/keys/revocable-responses.ts'
import type { ProjectDeps } from './projects.ts'
import { streamBytes } from './read-memory.ts'
import { splitLongChunks } from './write-list.ts'

export interface StreamDeps {
  memory: RequestMemory
  responses: RevocableResponses
}

export interface QueryDeps extends ProjectDeps, StreamDeps {}

// A client that receives nothing for this long has probably disconnected.
const defaultStallMs = 30_000
// A very slow client is also disconnected at some time.
const defaultDeadlineMs = 60 * 60_000
// While a snapshot is read, Postgres keeps all row versions that were replaced since. Reading a million calls takes
// some minutes.
const maxReadMs = 15 * 60_000

/** A response that is generated while it is sent. */
interface Chunks {
  type: string
  chunks: AsyncGenerator<string>
  stallMs?: number
  deadlineMs?: number
}

/** The cost of an operation that answers with `sendChunks`: a connection to Postgres, and memory for the parts. */
export const streamCost: Required<CostOption>['cost'] = { permit: 'trace_streams', memoryBytes: streamBytes }

/** Streams a generator that reads from the database, as `pipeChunks` does. Its operation has the cost `streamCost`. */
export function sendChunks(
  ctx: RequestContext,
  { responses }: Pick<StreamDeps, 'responses'>,
  answer: Chunks,
): Promise<void> {
  return pipeChunks(ctx, responses, { deadlineMs: maxReadMs, ...answer })
}

/**
 * Streams a generator as fast as the client receives it. The status is sent after the first chunk, so that an earlier
 * failure is answered as an error. The generator always ends: even when the client disconnects, or its key is revoked.
 */
export async function pipeChunks(
  ctx: RequestContext,
  responses: RevocableResponses,
  { type, chunks, stallMs = defaultStallMs, deadlineMs = defaultDeadlineMs }: Chunks,
): Promise<void> {
  const pieces = splitLongChunks(chunks)
  // A part is released when it is sent. Its memory is not that of an answer.
  const begun = new StartedGenerator(pieces, await runForAnswer(undefined, () => pieces.next()))
  if (ctx.res.closed) return void (await begun.return())
  const body = Readable.from(begun, { objectMode: false })
  const end = () => {
    body.destroy()
    ctx.res.destroy()
  }
  // Several parts listen for the end of the response. Node warns of a leak from eleven listeners on.
  ctx.res.setMaxListeners(20)
  const deadline = setTimeout(end, deadlineMs)
  ctx.res.once('close', () => clearTimeout(deadline))
  responses.track(ctx.state.caller, ctx.res).addEventListener('abort', end)
  // The timeout also fires while no data waits to be sent. The response then goes on, and Node restarts the timer with
  // the next chunk.
  ctx.res.setTimeout(stallMs, () => ctx.res.writableLength > 0 && end())
  ctx.type = type
  ctx.body = body
}

/**
 * A generator after its first chunk. A generator that has not started would skip its `finally` blocks when it is ended.
 */
class StartedGenerator implements AsyncIterableIterator<string> {
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
