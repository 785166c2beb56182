import { asksForUsage, withUsage } from '../reply/chat-meter.ts'
import { isObject } from '../../../lib/json/is-object.ts'
import { argumentFields, chatFields, isPassed } from './chat-fields.ts'
import { leaveOut } from '../leave-out.ts'
import type { ChatRequest } from './chat-schema.ts'
import type { EngineTarget } from '../passthrough.ts'
import { leaveOutEmptyTools } from './tool-fields.ts'

/**
 * The changes that turn a chat into the request to an engine. It contains only members that engines are known to
 * accept, and the engine's own name of the model.
 *
 * For models that are trained here, it also asks for the members that training needs: logprobs and the sampled token
 * ids. In a stream it asks for the ids within the logprobs, because clients keep only the logprobs of streams. Streams
 * are asked for their usage, which `ChatMeter` reads. Values that the client set stay, also an explicit false or null.
 * Every other byte stays unchanged.
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

/** The interface document's `engine_xargs` has the name `vllm_xargs` in vLLM. */
export function pickArguments(chat: { vllm_xargs?: unknown; engine_xargs?: unknown }): Record<string, unknown> {
  const given = Object.hasOwn(chat, 'vllm_xargs') ? chat['vllm_xargs'] : chat.engine_xargs
  if (given === undefined) return {}
  const passed = (value: object) => Object.entries(value).filter(([name]) => isPassed(argumentFields, name))
  return { engine_xargs: undefined, vllm_xargs: isObject(given) ? Object.fromEntries(passed(given)) : given }
}
