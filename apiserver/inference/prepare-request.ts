import type { JsonDocument } from '../../lib/json/document.ts'
import type { TokenEstimate } from '../accounts/limits/token-limiter.ts'
import type { RequestReservation } from '../accounts/limits/request-memory.ts'
import { saltCache } from './chat/cache-salt.ts'
import type { AffinityKey } from './engines/affinity.ts'
import { EngineBody } from './engines/engine-body.ts'
import type { ChatTarget } from './models/resolve-model.ts'
import type { CheckedBody } from './passthrough.ts'
import { bytesPerPromptToken } from './prompt-size.ts'

// Of a reply whose length nobody limits.
const defaultSampled = 1_024

/** All that is left of a request while an engine answers it. */
export interface PreparedRequest {
  /** Of the engine. */
  path: string
  target: ChatTarget
  /** What the engine gets. It counts among what is in memory until it is let go. */
  body: EngineBody
  /** Whether the client did not ask for the event that holds the usage alone. */
  hidesUsage: boolean
  /** What it has in common with requests that should go to the same engine. */
  affinity: AffinityKey
  /** What it is expected to use. */
  estimate: TokenEstimate
}

/** A checked request of an entity for the engines of a model. */
export interface CheckedRequest {
  path: string
  entity: string
  document: JsonDocument
  checked: CheckedBody
  target: ChatTarget
  /** Begins with the document's bytes, which may be changed, and is reserved already. */
  room?: Buffer
}

/**
 * Makes the request to an engine, which counts among what is in memory until an engine has it.
 *
 * @throws {HttpError} 422 for a reply that could be too large, and when there is no memory for the request
 */
export function prepareRequest(
  engineKey: string,
  request: CheckedRequest,
  memory: RequestReservation,
): PreparedRequest {
  const { path, entity, document, checked, target, room } = request
  const cacheSalt = saltCache(engineKey, entity, checked.cacheSalt)
  const changes = checked.change({ ...target, cacheSalt })
  const changed = room && document.members.changeInPlace(changes, room)
  const body = changed ?? document.members.change(changes)
  checked.rejectLargeReply({ bodyBytes: body.length, trainable: target.trainable })
  const reserved = changed ? room.length : body.length
  if (!changed) {
    memory.add(reserved)
    memory.drop(room?.length ?? 0)
  }
  // What lets go must not hold the body itself.
  const letGo = () => memory.drop(reserved)
  const estimate = estimateTokens(body.length, checked)
  const affinity = { entity, model: target.engineName, prefix: checked.prefix }
  return { path, target, body: new EngineBody(body, letGo), hidesUsage: checked.hidesUsage, affinity, estimate }
}

function estimateTokens(bodyBytes: number, { maxSampledTokens = defaultSampled }: CheckedBody): TokenEstimate {
  return { promptTokens: Math.ceil(bodyBytes / bytesPerPromptToken), completionTokens: maxSampledTokens }
}
