import type { JsonDocument } from '../../lib/json/document.ts'
import type { TracedOperation } from './chat-traces.ts'
import type { ChatTarget } from './models/resolve-model.ts'

/** The engine's name of a model, and what the request to the engine depends on. */
export interface EngineTarget extends Pick<ChatTarget, 'engineName' | 'trainable'> {
  /** The salt of the prefix cache. It replaces the client's own. */
  cacheSalt: string
}

/** The values that decide how large a complete reply may be, beside the request itself. */
export interface ReplyBasis {
  /** The size of the request to the engine. */
  bodyBytes: number
  /**
   * Whether the model was made through this service. Its replies contain logprobs and token ids, unless the client
   * turned them off.
   */
  trainable: boolean
}

/** A checked body of a request for an engine. */
export interface CheckedBody {
  /** The model name in the request. Undefined if it has none. */
  model: string | undefined
  /** The client's own salt of the prefix cache. */
  cacheSalt: string | null | undefined
  /** Whether the client did not ask for the event that contains only the usage. */
  hidesUsage: boolean
  /** The beginning of the prompt. Requests with equal prefixes go to the same engine, which has cached the prefix. */
  prefix: string
  /** How many sequences an engine computes: samples of prompts, or inputs of embeddings. */
  sequences: number
  /** How many tokens may be sampled at most. Undefined if the request does not set it. */
  maxSampledTokens?: number | undefined
  /** Returns the members that change on the way to the engine. Undefined leaves a member out. */
  change: (target: EngineTarget) => Record<string, unknown>
  /** @throws {HttpError} 422 for a reply that could be too large */
  rejectLargeReply: (basis: ReplyBasis) => void
}

/** How requests of an operation are passed to engines. Replies come back unchanged except for the model's name. */
export interface Passthrough {
  /** The path on the engine. */
  enginePath: string
  /** The operation name of its requests in traces. Without it, requests are not recorded. */
  tracedAs?: TracedOperation
  /** @throws {HttpError} 422 with all issues */
  check: (document: JsonDocument) => CheckedBody
}
