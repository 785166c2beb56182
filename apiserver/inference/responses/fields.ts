import type { Fields } from '../chat/chat-fields.ts'

const taken = null

const runsElsewhere = 'all responses are made while the client waits: use stream'
const isInput = 'send these messages as items of input, or send previous_response_id'

/**
 * How each field of a request for a response is handled. Fields that chats have too are checked by the rules of chats.
 * The list contains the fields of vLLM and of OpenAI.
 *
 * docs/inference.md lists the rejected fields. chat_fields_test.py checks that every field of vLLM is declared.
 */
export const responseFields: Fields = {
  input: taken,
  instructions: taken,
  model: taken,
  previous_response_id: taken,
  store: taken,
  metadata: taken,
  stream: taken,
  stream_options: taken,
  max_output_tokens: taken,
  temperature: taken,
  top_p: taken,
  top_logprobs: taken,
  include: taken,
  reasoning: taken,
  text: taken,
  tools: taken,
  tool_choice: taken,
  parallel_tool_calls: taken,
  truncation: taken,
  user: taken,
  // No tool runs on the server, so that there are no calls to count.
  max_tool_calls: taken,
  // These have no effect here. The answer contains them because OpenAI's clients expect them.
  service_tier: taken,
  safety_identifier: taken,
  prompt_cache_key: taken,
  prompt_cache_retention: taken,

  include_reasoning: taken,
  top_k: taken,
  min_p: taken,
  presence_penalty: taken,
  frequency_penalty: taken,
  repetition_penalty: taken,
  logit_bias: taken,
  seed: taken,
  stop: taken,
  stop_token_ids: taken,
  ignore_eos: taken,
  skip_special_tokens: taken,
  include_stop_str_in_output: taken,
  watermarking: taken,
  structured_outputs: taken,
  chat_template_kwargs: taken,
  cache_salt: taken,
  vllm_xargs: taken,
  priority: taken,
  request_id: taken,
  session_id: taken,
  mm_payload: taken,
  return_mm_kwargs: taken,
  // A chat rejects these.
  kv_transfer_params: taken,
  ec_transfer_params: taken,
  mm_processor_kwargs: taken,
  media_io_kwargs: taken,

  background: runsElsewhere,
  conversation: 'conversations are not kept as such: use previous_response_id',
  prompt: 'no prompt templates are kept here: use instructions and input',
  previous_input_messages: isInput,
  enable_response_messages: 'use POST /v1/chat/completions with return_token_ids',
}

/** Members that chats have with the same name and meaning. */
export const sharedFields = [
  'model',
  'temperature',
  'top_p',
  'parallel_tool_calls',
  'user',
  'include_reasoning',
  'top_k',
  'min_p',
  'presence_penalty',
  'frequency_penalty',
  'repetition_penalty',
  'logit_bias',
  'seed',
  'stop',
  'stop_token_ids',
  'ignore_eos',
  'skip_special_tokens',
  'include_stop_str_in_output',
  'watermarking',
  'structured_outputs',
  'chat_template_kwargs',
  'cache_salt',
  'vllm_xargs',
  'priority',
  'request_id',
  'session_id',
  'mm_payload',
  'return_mm_kwargs',
  'kv_transfer_params',
  'ec_transfer_params',
  'mm_processor_kwargs',
  'media_io_kwargs',
] as const
