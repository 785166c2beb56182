import { pipeline, type Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { Deps } from '../deps.ts'
import type { JsonDocument } from '../json/document.ts'
import { unavailable } from '../refusal.ts'
import { parseChatRequest } from './chat-schema.ts'
import { isConnectionFailure } from './engine-client.ts'
import { translateEngineError } from './engine-errors.ts'
import { buildEngineRequest } from './engine-request.ts'
import { renameModel, RenameModelStream, type ModelNames } from './rename-model.ts'
import { resolveModel } from './resolve-model.ts'

/** A reply for the client: complete, or a stream of events. */
export type ChatReply = { kind: 'complete'; bytes: Uint8Array } | { kind: 'stream'; events: Readable }

/** Answers a chat completion request with the engine's reply; `signal` tells that the client has left. */
export async function completeChat(
  deps: Deps,
  entity: string,
  document: JsonDocument,
  signal: AbortSignal,
): Promise<ChatReply> {
  const chat = parseChatRequest(document)
  const target = await resolveModel(deps.pool, entity, chat.model ?? undefined)
  const response = await deps.engines.post({
    baseModelCrName: target.baseModelCrName,
    path: '/v1/chat/completions',
    body: buildEngineRequest(document, chat, target),
    signal,
  })
  if (response.statusCode !== 200) throw await readEngineError(deps, response, target)
  if (isEventStream(response)) return { kind: 'stream', events: passEvents(deps, response, target) }
  return { kind: 'complete', bytes: renameModel(await readReply(response), target) }
}

function isEventStream(response: Dispatcher.ResponseData): boolean {
  return String(response.headers['content-type']).startsWith('text/event-stream')
}

/** Bytes flow at the client's pace; when either end goes away, the other is ended too. */
function passEvents({ log }: Deps, response: Dispatcher.ResponseData, names: ModelNames): Readable {
  return pipeline(response.body, new RenameModelStream(names), (error) => {
    if (error && isConnectionFailure(error)) log.warn({ error }, 'engine broke off a stream')
  })
}

async function readReply(response: Dispatcher.ResponseData): Promise<Uint8Array> {
  try {
    return await response.body.bytes()
  } catch (error) {
    if (isConnectionFailure(error)) throw unavailable('The engine broke off while it answered.', 2)
    throw error
  }
}

async function readEngineError({ log }: Deps, response: Dispatcher.ResponseData, names: ModelNames) {
  const body = await readReply(response)
  const refusal = translateEngineError(response.statusCode, body, names)
  if (refusal.status >= 500) {
    const answer = Buffer.from(body.subarray(0, 2_000)).toString()
    log.error({ status: response.statusCode, answer }, 'engine failed to answer')
  }
  return refusal
}
