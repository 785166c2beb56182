import { HttpError } from '../../../lib/http/http-error.ts'
import type { ChatReader } from '../../inference/chat/chat-reader.ts'
import type { EngineCall } from '../../inference/ask-engine.ts'
import { completeChat, type ChatReply } from '../../inference/chat.ts'
import { chatPassthrough } from '../../inference/chat/passthrough.ts'
import { prepareRequest } from '../../inference/prepare-request.ts'
import { resolveModel, type ChatTarget } from '../../inference/models/resolve-model.ts'
import type { JsonDocument } from '../../../lib/json/document.ts'
import type { ProjectDeps } from '../projects.ts'
import type { GatewayDeps } from '../../inference/gateway.ts'
import { buildChat, type ChatInputs } from './chat-inputs.ts'
import { readPrompt } from './prompt.ts'
import type { Place, TrackedCall } from './tracked-call.ts'

/** What engines are asked with, and prompts are found with. */
export interface AskDeps extends ProjectDeps {
  gateway: GatewayDeps
}

/** What a call says whose client did not wait. */
export const clientLeft = 'The client disconnected before the answer was complete.'

/** A completion that is asked for. */
export interface Completion extends Place, Pick<EngineCall, 'memory' | 'client'> {
  /** Undefined when none is wanted. */
  tracked: TrackedCall | undefined
  /** The project that its usage is charged to; undefined for the model's own. */
  charged: string | undefined
}

/** What a completion is made of, of which nothing is kept while an engine answers. */
export interface AskedChat {
  inputs: ChatInputs
  reader: ChatReader
  isStream: boolean
}

/** Asks an engine as the gateway does, which also charges what is used. @throws {HttpError} when there is no answer */
export type AskEngine = () => Promise<ChatReply>

/**
 * How to ask for the chat with the messages of its prompt and its variables in it, or why those cannot be put in. The model
 * is looked up before anything is made of them.
 */
export async function openChat(
  deps: AskDeps,
  completion: Completion,
  asked: AskedChat,
): Promise<AskEngine | HttpError> {
  const target = await orHttpError(resolveModel(deps.gateway.pool, completion.caller.entity, asked.inputs.model))
  if (target instanceof HttpError) return () => Promise.reject(target)
  const document = await orHttpError(fillChat(deps, completion, asked))
  // Clients send a request again for which there was no room.
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
  const { path, check } = chatPassthrough
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
