import { Type } from 'typebox'
import { compileBody } from '../../../lib/http/validation/compile.ts'
import { nullable } from '../../../lib/http/validation/nullable.ts'
import { describeOptional, samplingMembers, type OptionalMembers } from '../request-members.ts'

// The bounds of a seed in the interface document and in vLLM: a 64-bit integer.
const seedBound = 2 ** 63
// Each sample of a prompt occupies a slot of the engine.
const maxSamples = 1024
// This many short messages already delay other chats of an engine by a quarter of a second. 400,000 delayed them by ten
// seconds.
const maxMessages = 10_000

const flag = Type.Boolean()
const integer = Type.Integer()
const number = Type.Number()
const text = Type.String()
const object = Type.Object({})
const list = Type.Array(Type.Unknown())

/** A message of a chat. */
export const messageSchema = Type.Unsafe<ChatMessage>({
  type: 'object',
  required: ['role'],
  properties: {
    role: Type.String({ minLength: 1 }),
    content: Type.Unsafe<unknown>({ type: ['string', 'array', 'object', 'null'] }),
    tool_calls: nullable(Type.Array(object)),
    function_call: nullable(object),
  },
})

export interface ChatMessage {
  role: string
  content?: unknown
  tool_calls?: object[] | null
  function_call?: object | null
  [more: string]: unknown
}

const optionalFields = {
  ...samplingMembers,
  logprobs: flag,
  top_logprobs: integer,
  max_tokens: integer,
  max_completion_tokens: integer,
  n: Type.Integer({ minimum: 1, maximum: maxSamples }),
  seed: Type.Integer({ minimum: -seedBound, maximum: seedBound }),
  tools: Type.Array(object),
  tool_choice: Type.Unsafe<unknown>({ type: ['string', 'object'] }),
  functions: Type.Array(object),
  function_call: Type.Unsafe<string | object>({ type: ['string', 'object'] }),
  reasoning_effort: text,
  include_reasoning: flag,
  parallel_tool_calls: flag,
  use_beam_search: flag,
  top_k: integer,
  min_p: number,
  repetition_penalty: number,
  length_penalty: number,
  include_stop_str_in_output: flag,
  ignore_eos: flag,
  skip_special_tokens: flag,
  spaces_between_special_tokens: flag,
  truncate_prompt_tokens: Type.Integer({ minimum: -1 }),
  bad_words: Type.Array(text),
  add_generation_prompt: flag,
  continue_final_message: flag,
  add_special_tokens: flag,
  documents: Type.Array(object),
  chat_template: text,
  chat_template_kwargs: object,
  mm_processor_kwargs: object,
  logits_processors: list,
  return_tokens_as_token_ids: flag,
  kv_transfer_params: object,
  engine_xargs: object,
}

/**
 * A chat completion request. The schema has the types of the members that the interface names. The engine checks the
 * rest.
 */
export const chatRequestSchema = Type.Unsafe<ChatRequest>({
  type: 'object',
  required: ['messages'],
  properties: {
    messages: Type.Array(messageSchema, { minItems: 1, maxItems: maxMessages }),
    ...describeOptional(optionalFields),
  },
})

export interface ChatRequest extends OptionalMembers<typeof optionalFields> {
  messages: ChatMessage[]
  [more: string]: unknown
}

export const parseChatRequest = compileBody(chatRequestSchema)
