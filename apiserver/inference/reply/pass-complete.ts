import { Readable } from 'node:stream'
import type { HttpContext } from '../../../lib/http/context.ts'
import { endLater, type AnswerTimes } from '../../../lib/http/stalled-answers.ts'
import { readWhole } from '../chat.ts'
import { orUnavailable, replyLimitBytes, replyTooLarge } from '../engines/read-engine.ts'
import type { EngineReply } from './engine-reply.ts'
import { UsageSearch } from './find-usage.ts'
import { writeModelMember } from './rename-model.ts'
import { Splice } from './splice.ts'

/**
 * Sends a complete reply as it arrives, at the client's pace. Changes only the model's name, which engines write before the
 * choices, and searches the usage. If its beginning does not contain the name, or its length is not known, the reply is
 * collected first.
 *
 * @throws {HttpError} 422 for a reply beyond the limit, 503 if the engine disconnects before the reply begins
 */
export async function passComplete(ctx: HttpContext, reply: EngineReply, times: AnswerTimes): Promise<void> {
  const { body, headers } = reply.response
  const length = headers['content-length'] === undefined ? undefined : Number(headers['content-length'])
  if (length !== undefined && length > replyLimitBytes) {
    body.destroy()
    throw replyTooLarge()
  }
  const rest = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  const { value: first = Buffer.alloc(0) } = (await orUnavailable(rest.next())) as IteratorResult<Buffer, undefined>
  const renamed = length === undefined ? undefined : renameStart(reply, first)
  ctx.type = 'application/json; charset=utf-8'
  if (length === undefined || !renamed) {
    const whole = Buffer.from(await readWhole(reply, joinChunks(first, rest)))
    reply.tap?.(whole)
    ctx.body = whole
    return
  }
  const chunks = passChunks(reply, joinChunks(first, rest), renamed)
  if (first.length === length) {
    for await (const whole of chunks) ctx.body = whole
    return
  }
  ctx.body = Readable.from(chunks, { objectMode: false })
  ctx.length = length + renamed.length - first.length
  endLater(ctx.res, ctx.length, times)
}

/**
 * Returns the beginning of a reply with the client's name of the model. Undefined if the engine's name is not in it.
 */
function renameStart({ names }: EngineReply, first: Buffer): Buffer | undefined {
  const written = writeModelMember(names.engineName)
  const at = first.indexOf(written)
  if (at < 0) return undefined
  const splice = new Splice(first)
  splice.replace(at, at + written.length, writeModelMember(names.requestedName))
  return splice.join()
}

/** @param renamed what the client gets instead of the first chunk */
async function* passChunks(
  { meter, tap }: EngineReply,
  chunks: AsyncIterable<Buffer>,
  renamed: Buffer,
): AsyncGenerator<Buffer> {
  const usage = new UsageSearch()
  let first: Buffer | undefined = renamed
  for await (const chunk of chunks) {
    usage.add(chunk)
    if (usage.found) meter.record(usage.found)
    const sent = first ?? chunk
    first = undefined
    tap?.(sent)
    yield sent
  }
}

async function* joinChunks(first: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield first
  yield* { [Symbol.asyncIterator]: () => rest }
}
