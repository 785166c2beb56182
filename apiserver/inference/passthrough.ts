import type { JsonDocument } from '../../lib/json/document.ts'
import type { TracedOperation } from './chat-traces.ts'
import type { ChatTarget } from './models/resolve-model.ts'

/** What an engine calls a model, and how it is to be asked for it. */
export interface EngineTarget extends Pick<ChatTarget, 'engineName' | 'trainable'> {
  /** Of the prefix cache, in place of the client's own. */
  cacheSalt: string
}

/** What decides how large a complete reply may become, beside what the request says. */
export interface ReplyBasis {
  /** Of the request to the engine. */
  bodyBytes: number
  /** Models of ours are asked for logprobs and token ids, unless the client said otherwise. */
  trainable: boolean
}

/** A checked body of a request that an engine will answer. */
export interface CheckedBody {
  /** What a model's name is to be looked up by; undefined when there is none. */
  model: string | undefined
  /** The client's own salt of the prefix cache. */
  cacheSalt: string | null | undefined
  /** Whether the client did not ask for the event that holds the usage alone. */
  hidesUsage: boolean
  /** The beginning of the prompt: requests that begin alike go to the same engine, which has cached it. */
  prefix: string
  /** How many tokens may be sampled at most; undefined when the request does not say it. */
  maxSampledTokens?: number | undefined
  /** The members that engines get otherwise than they came; undefined leaves one out. */
  change: (target: EngineTarget) => Record<string, unknown>
  /** @throws {HttpError} 422 for a reply that could be too large */
  rejectLargeReply: (basis: ReplyBasis) => void
}

/**
 * A path whose requests go to engines, and whose replies come back as they are but for the model's name.
 * The gateway answers it before Koa (`gateway.ts`); `routes.ts` declares it for the document.
 */
export interface Passthrough {
  path: string
  /** Of the engine, where it is another one. */
  enginePath?: string
  /** What its requests are called among the traces; without it they are not recorded. */
  tracedAs?: TracedOperation
  /**
   * The members whose texts are used, and not only checked. Then what is not ASCII in the texts of all others reads wrong in
   * the document, which is faster; a document that is rejected is read again as it is, for the words of the error. Without
   * it every document is read as it is.
   */
  usedMembers?: readonly string[]
  /** @throws {HttpError} 422 with all issues */
  check: (document: JsonDocument) => CheckedBody
}
