import { askEngine, type AskDeps, type EngineCall } from './ask-engine.ts'
import { readReply } from './engines/read-engine.ts'
import { isConnectionFailure } from './engines/transport.ts'
import type { PreparedRequest } from './prepare-request.ts'
import { isEventStream, type EngineReply } from './reply/engine-reply.ts'
import { EventStream } from './reply/event-stream.ts'
import { readMembers, renameModel } from './reply/rename-model.ts'

/** A reply for a caller in this process: complete, or the lines of a stream of events. */
export type ChatReply = { kind: 'complete'; bytes: Uint8Array } | { kind: 'stream'; events: AsyncIterable<Buffer> }

/** Answers a chat for a caller in this process with an engine's reply. */
export async function completeChat(deps: AskDeps, call: EngineCall, chat: PreparedRequest): Promise<ChatReply> {
  const reply = await askEngine(deps, call, chat)
  if (isEventStream(reply.response)) return { kind: 'stream', events: readEvents(reply) }
  return { kind: 'complete', bytes: await readWhole(reply) }
}

const rethrow = (error: unknown): never => {
  throw error
}

/**
 * The lines of an engine's events, rewritten for the client, as they arrive. The generator fails if the stream is cut off here,
 * and not by the engine.
 *
 * @param presentError returns the data of the last event of a stream that is cut off, or throws
 */
export async function* readEvents(
  { response, names, memory, meter, tap }: EngineReply,
  presentError: (error: unknown) => object = rethrow,
): AsyncGenerator<Buffer> {
  const events = new EventStream(names, meter, memory)
  const kept = (lines: Buffer) => {
    tap?.(lines)
    return lines
  }
  try {
    for await (const chunk of response.body) yield kept(events.pass(chunk as Buffer).join())
    yield kept(events.end().join())
  } catch (error) {
    const data = JSON.stringify(presentError(error))
    yield kept(Buffer.from(`${events.isWithinEvent ? '\n' : ''}data: ${data}\n\n`))
    if (!isConnectionFailure(error)) throw error
  }
}

/** Collects a complete reply, and rewrites it for the client. */
export async function readWhole(
  { response, names, memory, meter }: EngineReply,
  chunks: AsyncIterable<Buffer> = response.body,
): Promise<Uint8Array> {
  const bytes = await readReply(chunks, memory)
  const members = readMembers(bytes)
  meter.readReply(members)
  return renameModel(bytes, names, members)
}
