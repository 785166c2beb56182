import { toHttpError } from '../../errors/answer-errors.ts'
import { ExcessMemory } from '../../accounts/limits/excess-memory.ts'
import type { EngineCall } from '../ask-engine.ts'
import type { ChatReply } from '../chat.ts'
import { readReply } from '../reply/reply-texts.ts'
import { askEngine, type ResponseDeps } from './complete.ts'
import { EventWriter } from './event-writer.ts'
import { ResponseBuilder } from './response-builder.ts'
import { makeId } from './output-items.ts'
import type { PreparedResponse } from './prepare.ts'

// A response must not fail because of an ordinary amount of text, however much memory other requests use.
const freeBytes = 64 * 1024

const cutOff = 'The engine ended the stream before the response was complete.'

/** A response whose reply an engine has begun. */
interface BegunResponse {
  call: EngineCall
  prepared: PreparedResponse
  reply: ChatReply
}

/** Returns the events of a response while it is created. @throws {HttpError} as a chat does, before the first event */
export async function streamResponse(
  deps: ResponseDeps,
  call: EngineCall,
  prepared: PreparedResponse,
): Promise<AsyncGenerator<string>> {
  const reply = await askEngine(deps, call, prepared)
  return writeEvents(deps, { call, prepared, reply })
}

/** The response is stored before its last event is sent. */
async function* writeEvents(deps: ResponseDeps, { call, prepared, reply }: BegunResponse): AsyncGenerator<string> {
  const writer = new EventWriter()
  const builder = new ResponseBuilder(call, prepared, makeId('resp'), (event) => writer.write(event))
  prepared.trace?.follow(builder)
  const held = new ExcessMemory(call.memory, freeBytes)
  for (const type of ['response.created', 'response.in_progress']) writer.write({ type, response: builder.begin() })
  try {
    for await (const text of readReply(reply)) {
      builder.reader.read(JSON.parse(text))
      held.resize(builder.size)
      yield writer.take()
    }
    const { error = builder.reader.finishReason === null ? cutOff : undefined } = builder.reader
    const response = error === undefined ? await builder.end(deps.stored) : builder.fail(error)
    writer.write({ type: `response.${response.status}`, response })
  } catch (error) {
    // The client has left, so the connection is closed too.
    if (call.client.hasLeft) throw error
    writer.write({ type: 'response.failed', response: builder.fail(toHttpError(error, deps.log).message) })
  }
  yield writer.take()
}
