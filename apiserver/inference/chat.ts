import { askEngine, type AskDeps, type EngineCall } from './ask-engine.ts'
import { readChunks } from './engines/read-chunks.ts'
import { readReply } from './engines/read-engine.ts'
import type { PreparedRequest } from './prepare-request.ts'
import { isEventStream, type EngineReply } from './reply/engine-reply.ts'
import { EventStream } from './reply/event-stream.ts'
import { readMembers, renameModel } from './reply/rename-model.ts'

/** A reply for a caller in this process: complete, or the lines of a stream of events. */
export type ChatReply = { kind: 'complete'; bytes: Uint8Array } | { kind: 'stream'; events: AsyncIterable<Buffer> }

/** Answers a chat for a caller in this process with an engine's reply, and charges its usage. */
export async function completeChat(deps: AskDeps, call: EngineCall, chat: PreparedRequest): Promise<ChatReply> {
  const reply = await askEngine(deps, call, chat)
  if (isEventStream(reply.response)) return { kind: 'stream', events: readEvents(reply) }
  return { kind: 'complete', bytes: await readWhole(reply) }
}

/** The lines of an engine's events, rewritten for the client. */
export async function* readEvents({ response, names, memory, meter, charge }: EngineReply): AsyncGenerator<Buffer> {
  const events = new EventStream(names, meter, memory)
  try {
    for await (const chunk of readChunks(response)) yield events.pass(chunk).join()
    yield events.end().join()
  } finally {
    charge()
  }
}

/** Collects a complete reply, and rewrites it for the client. */
export async function readWhole({ response, names, memory, meter, charge }: EngineReply): Promise<Uint8Array> {
  const bytes = await readReply(response, memory)
  const members = readMembers(bytes)
  meter.readReply(members)
  charge()
  return renameModel(bytes, names, members)
}
