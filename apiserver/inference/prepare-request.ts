import type { JsonDocument } from '../../lib/json/document.ts'
import type { TokenEstimate } from '../accounts/limits/token-limiter.ts'
import type { RequestReservation } from '../accounts/limits/request-memory.ts'
import { saltCache } from './chat/cache-salt.ts'
import type { AffinityKey } from './engines/affinity.ts'
import { EngineBody } from './engines/engine-body.ts'
import type { ChatTarget } from './models/resolve-model.ts'
import type { CheckedBody } from './passthrough.ts'
import { bytesPerPromptToken } from './prompt-size.ts'

// For a reply whose length is not limited.
const defaultSampled = 1_024

/** What is kept of a request while an engine answers it. */
export interface PreparedRequest {
  /** The path on the engine. */
  path: string
  target: ChatTarget
  /** The body for the engine. Its memory stays reserved until the body is released. */
  body: EngineBody
  /** Whether the client did not ask for the event that contains only the usage. */
  hidesUsage: boolean
  /** Requests with equal keys should go to the same engine. */
  affinity: AffinityKey
  /** How many sequences the engine computes for it. */
  sequences: number
  /** The tokens that the request is expected to use. */
  estimate: TokenEstimate
}

/** A checked request of an entity for the engines of a model. */
export interface CheckedRequest {
  path: string
  entity: string
  document: JsonDocument
  checked: CheckedBody
  target: ChatTarget
}

/**
 * Builds the request to an engine. Its memory stays reserved until an engine has received it.
 *
 * @throws {HttpError} 422 for a reply that could be too large, and if there is no memory for the request
 */
export function prepareRequest(
  engineKey: string,
  request: CheckedRequest,
  memory: RequestReservation,
): PreparedRequest {
  const { path, entity, document, checked, target } = request
  const cacheSalt = saltCache(engineKey, entity, checked.cacheSalt)
  const body = document.members.change(checked.change({ ...target, cacheSalt }))
  checked.rejectLargeReply({ bodyBytes: body.length, trainable: target.trainable })
  const reserved = body.length
  memory.add(reserved)
  // This callback must not hold a reference to the body.
  const letGo = () => memory.drop(reserved)
  const estimate = estimateTokens(body.length, checked)
  const affinity = { entity, model: target.engineName, prefix: checked.prefix }
  const { hidesUsage, sequences } = checked
  return { path, target, body: new EngineBody(body, letGo), hidesUsage, affinity, sequences, estimate }
}

function estimateTokens(bodyBytes: number, { maxSampledTokens = defaultSampled }: CheckedBody): TokenEstimate {
  return { promptTokens: Math.ceil(bodyBytes / bytesPerPromptToken), completionTokens: maxSampledTokens }
}
