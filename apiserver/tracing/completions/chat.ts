import { HttpError } from '../../../lib/http/http-error.ts'
import type { ChatReader } from '../../inference/chat/chat-reader.ts'
import type { EngineCall } from '../../inference/ask-engine.ts'
import { completeChat, type ChatReply } from '../../inference/chat.ts'
import { chatPassthrough } from '../../inference/chat/passthrough.ts'
import { prepareRequest } from '../../inference/prepare-request.ts'
import type { ChatTarget } from '../../inference/models/resolve-model.ts'
import type { JsonDocument } from '../../../lib/json/document.ts'
import type { ProjectDeps } from '../projects.ts'
import type { GatewayDeps } from '../../inference/gateway.ts'
import { buildChat, type ChatInputs } from './chat-inputs.ts'
import { readPrompt } from './prompt.ts'
import type { CallOwner, TrackedCall } from './tracked-call.ts'

export interface AskDeps extends ProjectDeps {
  gateway: GatewayDeps
}

/** The exception of a call whose client disconnected. */
export const clientDisconnected = 'The client disconnected before the answer was complete.'

/** A completion that a client requests. */
export interface Completion extends CallOwner, Pick<EngineCall, 'memory' | 'client'> {
  /** Undefined if the completion is not traced. */
  tracked: TrackedCall | undefined
  /** The project that is charged for the usage. Undefined charges the model's own project. */
  charged: string | undefined
}

/** What the chat is built from. None of it stays in memory while an engine answers. */
export interface AskedChat {
  inputs: ChatInputs
  reader: ChatReader
  isStream: boolean
}

/** Asks an engine, and charges the usage, as the gateway does. @throws {HttpError} when there is no answer */
export type AskEngine = () => Promise<ChatReply>

/**
 * Builds the chat from its inputs, its prompt and its variables. Returns the function that asks an engine, or the error
 * that the chat has. The model is looked up before the chat is built.
 */
export async function openChat(
  deps: AskDeps,
  completion: Completion,
  asked: AskedChat,
): Promise<AskEngine | HttpError> {
  const target = await orHttpError(deps.gateway.models.resolve(completion.caller.entity, asked.inputs.model))
  if (target instanceof HttpError) return () => Promise.reject(target)
  const document = await orHttpError(fillChat(deps, completion, asked))
  // Clients retry a request that failed for lack of memory.
  const isPassing = document instanceof HttpError && (document.status === 429 || document.status >= 500)
  if (isPassing) throw document
  if (document instanceof HttpError) return document
  const ask = await orHttpError(prepareAsking(deps.gateway, completion, { document, target }))
  asked.reader.letGo()
  return ask instanceof HttpError ? () => Promise.reject(ask) : ask
}

async function fillChat(
  deps: ProjectDeps,
  completion: Completion,
  { inputs, reader, isStream }: AskedChat,
): Promise<JsonDocument> {
  const { prompt } = inputs
  const messages = prompt === undefined ? [] : await readPrompt(deps, completion, { prompt, reader })
  return reader.parse(buildChat(inputs, messages, isStream))
}

async function prepareAsking(
  gateway: GatewayDeps,
  completion: Completion,
  { document, target }: { document: JsonDocument; target: ChatTarget },
): Promise<AskEngine> {
  const { caller, charged: project, memory, client } = completion
  const { enginePath: path, check } = chatPassthrough
  const request = { path, entity: caller.entity, document, checked: check(document), target }
  const prepared = prepareRequest(gateway.engineKey, request, memory)
  return () => completeChat(gateway, { caller, project, memory, client }, prepared)
}

async function orHttpError<T>(asked: Promise<T>): Promise<T | HttpError> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof HttpError) return error
    throw error
  }
}
