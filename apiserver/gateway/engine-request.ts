import type { JsonDocument } from '../json/document.ts'
import { asksForUsage, withUsage } from './chat-meter.ts'
import type { ChatRequest } from './chat-schema.ts'
import type { ChatTarget } from './resolve-model.ts'

type EngineTarget = Pick<ChatTarget, 'engineName' | 'trainable'> & {
  /** Of the prefix cache, in place of the client's own. */
  cacheSalt: string
}

/**
 * The request as the engine gets it: its own name of the model, and for models that are trained here what training
 * needs (logprobs, the sampled token ids; in a stream, whose clients keep only the logprobs, the ids written there).
 * Streams are asked for their usage, which `ChatMeter` reads. What the client set stays, an explicit false or null too, and every other byte passes as it came.
 */
export function buildEngineRequest(document: JsonDocument, chat: ChatRequest, target: EngineTarget): Buffer {
  return document.members.change({
    ...(target.trainable ? pickTrainingDefaults(chat) : {}),
    ...renameExtraArguments(chat),
    ...(asksForUsage(chat) ? { stream_options: withUsage(chat.stream_options) } : {}),
    cache_salt: target.cacheSalt,
    model: target.engineName,
  })
}

function pickTrainingDefaults(chat: ChatRequest): Record<string, true> {
  const wanted = ['logprobs', 'return_token_ids', ...(chat.stream ? ['return_tokens_as_token_ids'] : [])]
  return Object.fromEntries(wanted.filter((name) => !Object.hasOwn(chat, name)).map((name) => [name, true]))
}

/** The interface document's `engine_xargs` is `vllm_xargs` to vLLM. */
function renameExtraArguments(chat: ChatRequest): Record<string, unknown> {
  if (!Object.hasOwn(chat, 'engine_xargs')) return {}
  const given = Object.hasOwn(chat, 'vllm_xargs') ? {} : { vllm_xargs: chat.engine_xargs }
  return { engine_xargs: undefined, ...given }
}
