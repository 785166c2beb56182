import { asksForUsage, withUsage } from '../reply/chat-meter.ts'
import { isObject } from '../../../lib/json/is-object.ts'
import { argumentFields, chatFields, isPassed } from './chat-fields.ts'
import { omitUnpassed } from '../omit-members.ts'
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
  // One object for all of them: this runs for every chat.
  const changes: Record<string, unknown> = omitUnpassed(chat, chatFields)
  if (target.trainable) askForTraining(chat, changes)
  Object.assign(changes, leaveOutEmptyTools(chat), pickArguments(chat))
  if (asksForUsage(chat)) changes['stream_options'] = withUsage(chat.stream_options)
  changes['cache_salt'] = target.cacheSalt
  changes['model'] = target.engineName
  return changes
}

const wantedByTraining = ['logprobs', 'return_token_ids']

function askForTraining(chat: ChatRequest, changes: Record<string, unknown>): void {
  for (const name of wantedByTraining) if (!Object.hasOwn(chat, name)) changes[name] = true
  if (chat.stream && !Object.hasOwn(chat, 'return_tokens_as_token_ids')) changes['return_tokens_as_token_ids'] = true
}

/** The interface document's `engine_xargs` has the name `vllm_xargs` in vLLM. */
export function pickArguments(chat: { vllm_xargs?: unknown; engine_xargs?: unknown }): Record<string, unknown> {
  const given = Object.hasOwn(chat, 'vllm_xargs') ? chat['vllm_xargs'] : chat.engine_xargs
  if (given === undefined) return {}
  const passed = (value: object) => Object.entries(value).filter(([name]) => isPassed(argumentFields, name))
  return { engine_xargs: undefined, vllm_xargs: isObject(given) ? Object.fromEntries(passed(given)) : given }
}
