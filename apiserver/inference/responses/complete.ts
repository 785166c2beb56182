import { HttpError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import { parseJson } from '../../../lib/json/document.ts'
import { estimateValueBytes } from '../../../lib/json/outline.ts'
import { JsonError } from '../../../lib/json/parse.ts'
import type { AskDeps, EngineCall } from '../ask-engine.ts'
import { completeChat } from '../chat.ts'
import { readReply } from '../reply/reply-texts.ts'
import { ResponseBuilder } from './response-builder.ts'
import { makeId } from './output-items.ts'
import { translateError } from './error-paths.ts'
import type { PreparedResponse } from './prepare.ts'
import type { ResponseStore } from './store.ts'

/** What creating responses needs. */
export interface ResponseDeps extends AskDeps {
  stored: ResponseStore
}

/** Creates a complete response for the client. @throws {HttpError} as a chat does */
export async function completeResponse(
  deps: ResponseDeps,
  call: EngineCall,
  prepared: PreparedResponse,
): Promise<string> {
  const builder = new ResponseBuilder(call, prepared, makeId('resp'))
  const reply = await askEngine(deps, call, prepared)
  prepared.trace?.follow(builder)
  for await (const text of readReply(reply)) builder.reader.read(parseReply(call, text))
  return JSON.stringify(await builder.end(deps.stored))
}

/** Sends the chat to an engine. @throws {HttpError} with the members of the request for the response in its issues */
export async function askEngine(deps: ResponseDeps, call: EngineCall, { chat, paths, trace }: PreparedResponse) {
  try {
    const reply = await completeChat(deps, call, chat)
    trace?.begin(call.project ?? chat.target.charged.project)
    return reply
  } catch (error) {
    throw translateError(error, paths)
  }
}

/**
 * The memory of a reply's values, and of the texts that are built from them, stays reserved until the response is sent.
 */
function parseReply({ memory }: EngineCall, text: string): unknown {
  try {
    const bytes = Buffer.from(text)
    return parseJson(bytes, (outline) => memory.add(2 * estimateValueBytes(bytes.length, outline))).value
  } catch (error) {
    throw error instanceof JsonError ? new HttpError(errors.engine_failed) : error
  }
}
