import { pipeline, type Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { Logger } from '../../lib/log.ts'
import type { UsageLedger } from '../accounts/usage/ledger.ts'
import type { UsageAccount } from '../../db/accounts/chat-usage.ts'
import type { RequestReservation } from '../accounts/limits/request-memory.ts'
import type { Turn } from '../accounts/limits/turn.ts'
import type { Caller } from '../accounts/context.ts'
import { ChatMeter } from './chat-meter.ts'
import { isConnectionFailure, type EngineClient } from './engine-client.ts'
import { translateEngineError } from './engine-errors.ts'
import { EventStream } from './event-stream.ts'
import type { PreparedChat } from './prepare-chat.ts'
import { readErrorBody, readReply } from './read-engine.ts'
import { readMembers, renameModel, type ModelNames } from './rename-model.ts'
import type { ChatTarget } from './resolve-model.ts'

/** What chats are answered with. */
export interface ChatDeps {
  engines: EngineClient
  log: Logger
  usage: UsageLedger
}

/** A reply for the client: complete, or a stream of events. */
export type ChatReply = { kind: 'complete'; bytes: Uint8Array } | { kind: 'stream'; events: Readable }

export interface ChatCall {
  caller: Caller
  turn: Turn
  /** What the client wants the usage charged to, if not the model's own project. */
  project: string | undefined
  /** What the request has reserved, for the reply to be counted with. */
  memory: RequestReservation
  /** Aborted when the client has left. */
  signal: AbortSignal
}

/** A chat that an engine answers. */
interface Answering {
  target: ChatTarget
  memory: RequestReservation
  meter: ChatMeter
  /** To be called once, when the reply is complete or has broken off. */
  charge: () => void
}

/** Answers a chat with an engine's reply, and charges what it used. */
export async function completeChat(deps: ChatDeps, call: ChatCall, chat: PreparedChat): Promise<ChatReply> {
  const { target } = chat
  const response = await postChat(deps.engines, call, chat)
  chat.body.letGo()
  if (response.statusCode !== 200) throw await readEngineError(deps.log, response, target)
  const meter = new ChatMeter(chat.hidesUsage)
  const charge = () => deps.usage.add(accountOf(call, target), meter.tokens)
  const answering = { target, memory: call.memory, meter, charge }
  if (isEventStream(response)) return { kind: 'stream', events: passEvents(deps.log, response, answering) }
  return { kind: 'complete', bytes: await passReply(response, answering) }
}

function postChat(
  engines: EngineClient,
  { turn, signal }: ChatCall,
  { target, body }: PreparedChat,
): Promise<Dispatcher.ResponseData> {
  const { baseModelCrName } = target
  return engines.post({ baseModelCrName, turn, path: '/v1/chat/completions', body, signal })
}

function accountOf({ caller: { entity, keyId }, project }: ChatCall, { charged }: ChatTarget): UsageAccount {
  return { ...charged, entity, keyId, project: project ?? charged.project }
}

function isEventStream(response: Dispatcher.ResponseData): boolean {
  return String(response.headers['content-type']).startsWith('text/event-stream')
}

/** Bytes flow at the client's pace; when either end goes away, the other is ended too. */
function passEvents(log: Logger, response: Dispatcher.ResponseData, answering: Answering): Readable {
  const { target, memory, meter, charge } = answering
  const rewrite = (data: Uint8Array) => (meter.passEvent(data) ? renameModel(data, target) : undefined)
  return pipeline(response.body, new EventStream(rewrite, memory), (error) => {
    if (error && isConnectionFailure(error)) log.warn({ error }, 'engine broke off a stream')
    charge()
  })
}

async function passReply(response: Dispatcher.ResponseData, answering: Answering): Promise<Uint8Array> {
  const { target, memory, meter, charge } = answering
  const bytes = await readReply(response, memory)
  const members = readMembers(bytes)
  meter.readReply(members)
  charge()
  return renameModel(bytes, target, members)
}

async function readEngineError(log: Logger, response: Dispatcher.ResponseData, names: ModelNames) {
  const body = await readErrorBody(response)
  const error = translateEngineError(response.statusCode, body, names)
  if (error.status >= 500) {
    const answer = Buffer.from(body.subarray(0, 2_000)).toString()
    log.error({ status: response.statusCode, answer }, 'engine failed to answer')
  }
  return error
}
