import { pipeline, type Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { Deps } from '../deps.ts'
import type { UsageAccount } from '../../db/queries/usage.ts'
import type { JsonDocument } from '../json/document.ts'
import type { Caller } from '../middleware/context.ts'
import { unavailable } from '../refusal.ts'
import { asksForUsage, ChatMeter } from './chat-meter.ts'
import { parseChatRequest } from './chat-schema.ts'
import { isConnectionFailure } from './engine-client.ts'
import { translateEngineError } from './engine-errors.ts'
import { buildEngineRequest } from './engine-request.ts'
import { EventStream } from './event-stream.ts'
import { readMembers, renameModel, type ModelNames } from './rename-model.ts'
import { resolveModel, type ChatTarget } from './resolve-model.ts'

/** A reply for the client: complete, or a stream of events. */
export type ChatReply = { kind: 'complete'; bytes: Uint8Array } | { kind: 'stream'; events: Readable }

export interface ChatCall {
  document: JsonDocument
  caller: Caller
  /** What the client wants the usage charged to, if not the model's own project. */
  project: string | undefined
  /** Aborted when the client has left. */
  signal: AbortSignal
}

/** A chat that an engine answers. */
interface Answering {
  target: ChatTarget
  meter: ChatMeter
  /** To be called once, when the reply is complete or has broken off. */
  charge: () => void
}

/** Answers a chat completion request with the engine's reply, and charges what it used. */
export async function completeChat(deps: Deps, call: ChatCall): Promise<ChatReply> {
  const { document, caller, signal } = call
  const chat = parseChatRequest(document)
  const target = await resolveModel(deps.pool, caller.entity, chat.model ?? undefined)
  const response = await deps.engines.post({
    baseModelCrName: target.baseModelCrName,
    path: '/v1/chat/completions',
    body: buildEngineRequest(document, chat, target),
    signal,
  })
  if (response.statusCode !== 200) throw await readEngineError(deps, response, target)
  const meter = new ChatMeter(asksForUsage(chat))
  const answering = { target, meter, charge: () => deps.usage.add(accountOf(call, target), meter.tokens) }
  if (isEventStream(response)) return { kind: 'stream', events: passEvents(deps, response, answering) }
  return { kind: 'complete', bytes: await passReply(response, answering) }
}

function accountOf({ caller: { entity, keyId }, project }: ChatCall, { charged }: ChatTarget): UsageAccount {
  return { ...charged, entity, keyId, project: project ?? charged.project }
}

function isEventStream(response: Dispatcher.ResponseData): boolean {
  return String(response.headers['content-type']).startsWith('text/event-stream')
}

/** Bytes flow at the client's pace; when either end goes away, the other is ended too. */
function passEvents({ log }: Deps, response: Dispatcher.ResponseData, { target, meter, charge }: Answering): Readable {
  const rewrite = (data: Uint8Array) => (meter.passEvent(data) ? renameModel(data, target) : undefined)
  return pipeline(response.body, new EventStream(rewrite), (error) => {
    if (error && isConnectionFailure(error)) log.warn({ error }, 'engine broke off a stream')
    charge()
  })
}

async function passReply(response: Dispatcher.ResponseData, answering: Answering): Promise<Uint8Array> {
  const { target, meter, charge } = answering
  const bytes = await readReply(response)
  const members = readMembers(bytes)
  meter.readReply(members)
  charge()
  return renameModel(bytes, target, members)
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
