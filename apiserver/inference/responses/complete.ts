import { HttpError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import { parseJson } from '../../../lib/json/document.ts'
import { estimateValueBytes } from '../../../lib/json/outline.ts'
import { JsonError } from '../../../lib/json/parse.ts'
import type { AskDeps, EngineCall } from '../ask-engine.ts'
import { completeChat } from '../chat.ts'
import { readReply } from '../reply/reply-texts.ts'
import { ResponseMaking } from './making.ts'
import { makeId } from './output-items.ts'
import { placeError } from './places.ts'
import type { PreparedResponse } from './prepare.ts'
import type { ResponseStore } from './store.ts'

/** What responses are made with. */
export interface ResponseDeps extends AskDeps {
  stored: ResponseStore
}

/** A response for the client, when all of it is there. @throws {HttpError} as a chat does */
export async function completeResponse(
  deps: ResponseDeps,
  call: EngineCall,
  prepared: PreparedResponse,
): Promise<string> {
  const making = new ResponseMaking(call, prepared, makeId('resp'))
  const reply = await askEngine(deps, call, prepared)
  prepared.trace?.follow(making)
  for await (const text of readReply(reply)) making.reader.read(parseReply(call, text))
  return JSON.stringify(await making.end(deps.stored))
}

/** Asks an engine for the chat. @throws {HttpError} which names the members of the request for the response */
export async function askEngine(deps: ResponseDeps, call: EngineCall, { chat, places, trace }: PreparedResponse) {
  try {
    const reply = await completeChat(deps, call, chat)
    trace?.begin(call.project ?? chat.target.charged.project)
    return reply
  } catch (error) {
    throw placeError(error, places)
  }
}

/** The values of a reply count until the response is out, and so do the texts that are made of them. */
function parseReply({ memory }: EngineCall, text: string): unknown {
  try {
    const bytes = Buffer.from(text)
    return parseJson(bytes, (outline) => memory.add(2 * estimateValueBytes(bytes.length, outline))).value
  } catch (error) {
    throw error instanceof JsonError ? new HttpError(errors.engine_failed) : error
  }
}
