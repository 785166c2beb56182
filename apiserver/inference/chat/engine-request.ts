import { asksForUsage, withUsage } from '../reply/chat-meter.ts'
import { isObject } from '../../../lib/json/is-object.ts'
import { argumentFields, chatFields, isPassed } from './chat-fields.ts'
import { leaveOut } from '../leave-out.ts'
import type { ChatRequest } from './chat-schema.ts'
import type { EngineTarget } from '../passthrough.ts'
import { leaveOutEmptyTools } from './tool-fields.ts'

/**
 * What changes in the request as the engine gets it: only what engines are known to take, its own name of the model, and for models that are trained here what training
 * needs (logprobs, the sampled token ids; in a stream, whose clients keep only the logprobs, the ids written there).
 * Streams are asked for their usage, which `ChatMeter` reads. What the client set stays, an explicit false or null too, and of what passes every byte is as it came.
 */
export function changeChat(chat: ChatRequest, target: EngineTarget): Record<string, unknown> {
  return {
    ...(target.trainable ? pickTrainingDefaults(chat) : {}),
    ...leaveOut(chat, chatFields),
    ...leaveOutEmptyTools(chat),
    ...pickArguments(chat),
    ...(asksForUsage(chat) ? { stream_options: withUsage(chat.stream_options) } : {}),
    cache_salt: target.cacheSalt,
    model: target.engineName,
  }
}

function pickTrainingDefaults(chat: ChatRequest): Record<string, true> {
  const wanted = ['logprobs', 'return_token_ids', ...(chat.stream ? ['return_tokens_as_token_ids'] : [])]
  return Object.fromEntries(wanted.filter((name) => !Object.hasOwn(chat, name)).map((name) => [name, true]))
}

/** The interface document's `engine_xargs` is `vllm_xargs` to vLLM. */
export function pickArguments(chat: { vllm_xargs?: unknown; engine_xargs?: unknown }): Record<string, unknown> {
  const given = Object.hasOwn(chat, 'vllm_xargs') ? chat['vllm_xargs'] : chat.engine_xargs
  if (given === undefined) return {}
  const passed = (value: object) => Object.entries(value).filter(([name]) => isPassed(argumentFields, name))
  return { engine_xargs: undefined, vllm_xargs: isObject(given) ? Object.fromEntries(passed(given)) : given }
}
