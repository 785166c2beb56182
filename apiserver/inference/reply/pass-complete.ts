import type { Exchange } from '../../../lib/http/exchange.ts'
import { endLater, endStalledAnswer, followUnsent, type AnswerTimes } from '../../../lib/http/stalled-answers.ts'
import type { ResponseReceiver } from '../engines/engine-response.ts'
import { replyLimitBytes, replyTooLarge } from '../engines/read-engine.ts'
import type { EngineReply } from './engine-reply.ts'
import { UsageSearch } from './find-usage.ts'
import { writeModelMember } from './rename-model.ts'
import { Splice } from './splice.ts'

/**
 * Passes a complete reply on as it arrives, at the client's pace. Changes only the model's name, which engines write
 * before the choices, and searches the usage.
 *
 * @returns false if the reply has to be collected first: its beginning does not contain the name, or its length is not
 * known. In this case nothing is read or sent.
 * @throws {HttpError} 422 for a reply beyond the limit
 */
export async function passComplete(reply: EngineReply, exchange: Exchange, times: AnswerTimes): Promise<boolean> {
  const { response } = reply
  const { contentLength } = response
  if (contentLength === undefined) return false
  if (contentLength > replyLimitBytes) {
    response.abort()
    throw replyTooLarge()
  }
  const isPassed = await new Promise<boolean>((resolve) => {
    const begin = (first: Buffer) => {
      const renamed = renameStart(reply, first)
      if (renamed) response.receive(openReply(reply, exchange, { first, renamed, contentLength, times }))
      else response.unread(first)
      resolve(renamed !== undefined)
    }
    const leave = () => resolve(false)
    response.receive({ onData: begin, onEnd: leave, onError: leave })
  })
  if (isPassed) response.whenOver(reply.charge)
  return isPassed
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

interface BegunReply {
  first: Buffer
  renamed: Buffer
  contentLength: number
  times: AnswerTimes
}

/** Sends the beginning of a reply, and passes the rest on. */
function openReply(reply: EngineReply, exchange: Exchange, begun: BegunReply): ResponseReceiver {
  const { response, meter } = reply
  const { res } = exchange
  const { first, renamed, contentLength, times } = begun
  const usage = new UsageSearch()
  let left = contentLength
  const isWhole = first.length >= contentLength
  const pass = (chunk: Buffer, sent = chunk) => {
    usage.add(chunk)
    reply.tap?.(sent)
    left -= chunk.length
    if (left > 0 && !res.write(sent)) response.pause()
    if (left > 0) return
    res.end(sent)
    if (isWhole) followUnsent(res, times)
  }
  const length = contentLength + renamed.length - first.length
  exchange.writeHead(200, { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': length })
  if (!isWhole) {
    endStalledAnswer(res, times)
    endLater(res, length, times)
    res.on('drain', () => response.resume())
  }
  pass(first, renamed)
  return {
    onData: pass,
    onEnd: () => {
      if (usage.found) meter.record(usage.found)
    },
    // The client sees from the length that the reply is incomplete.
    onError: () => res.destroy(),
  }
}
