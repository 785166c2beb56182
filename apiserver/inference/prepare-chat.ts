import { unprocessable } from '../../lib/http/http-error.ts'
import type { JsonDocument } from '../../lib/json/document.ts'
import type { RequestReservation } from '../accounts/limits/request-memory.ts'
import { saltCache } from './cache-salt.ts'
import { asksForUsage } from './chat-meter.ts'
import { parseChatRequest, type ChatRequest } from './chat-schema.ts'
import { EngineBody } from './engine-body.ts'
import { buildEngineRequest } from './engine-request.ts'
import { findLargeGrammars } from './grammar.ts'
import { findUnsupportedMedia } from './media.ts'
import { findUnsupportedFields } from './unsupported-fields.ts'
import { rejectLargeReply } from './reply-size.ts'
import type { ChatTarget } from './resolve-model.ts'

/** All that is left of a chat request while an engine answers it. */
export interface PreparedChat {
  target: ChatTarget
  /** What the engine gets. It counts among what is in memory until it is let go. */
  body: EngineBody
  /** Whether the client did not ask for the event that holds the usage alone. */
  hidesUsage: boolean
}

/** Checks a chat, and says of it what a model's name is to be looked up by. @throws {HttpError} 422 with the issues */
export function checkChat(document: JsonDocument): ChatRequest {
  const chat = parseChatRequest(document)
  const issues = [
    ...findUnsupportedFields(chat),
    ...findUnsupportedMedia(chat),
    ...findLargeGrammars(chat, document.members),
  ]
  if (issues.length > 0) throw unprocessable(...issues)
  return chat
}

/** A checked chat of an entity for the engines of a model. */
export interface CheckedChat {
  entity: string
  document: JsonDocument
  chat: ChatRequest
  target: ChatTarget
}

/**
 * Makes the request to an engine, which counts among what is in memory until an engine has it.
 *
 * @throws {HttpError} 422 for a reply that could be too large, and when there is no memory for the request
 */
export function prepareChat(engineKey: string, checked: CheckedChat, memory: RequestReservation): PreparedChat {
  const { entity, document, chat, target } = checked
  const cacheSalt = saltCache(engineKey, entity, chat.cache_salt)
  const body = buildEngineRequest(document, chat, { ...target, cacheSalt })
  rejectLargeReply({ chat, bodyBytes: body.length, trainable: target.trainable })
  // What lets go must not hold the body itself.
  const { length } = body
  memory.add(length)
  const letGo = () => memory.drop(length)
  return { target, body: new EngineBody(body, letGo), hidesUsage: asksForUsage(chat) }
}
