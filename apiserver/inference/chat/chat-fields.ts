export const passes = null

export const runsCode = 'it would run your code in an engine that others use too'
export const movesMemory = "it moves the engine's own memory between machines"
export const changesMedia = 'it changes how the engine reads media for everybody who uses it'
export const sizesPrompts = 'it changes the length of the prompt: use truncate_prompt_tokens'
const useChatFields = 'use the fields messages and tools of the chat itself'
const changesKind = 'it changes how the engine applies the template'
export const isGone =
  'engines ignore it and would answer without the constraint: use structured_outputs or response_format'

/**
 * Fields of chats: null for a field that is passed to engines, otherwise the reason why it is rejected. No other fields
 * are passed to engines.
 */
export type Fields = Readonly<Record<string, string | null>>

/** How the fields that chats and completions share are handled. */
export const samplingFields: Fields = {
  model: passes,
  frequency_penalty: passes,
  logit_bias: passes,
  logprobs: passes,
  max_tokens: passes,
  n: passes,
  presence_penalty: passes,
  response_format: passes,
  seed: passes,
  stop: passes,
  stream: passes,
  stream_options: passes,
  temperature: passes,
  top_p: passes,
  thinking_token_budget: passes,
  user: passes,
  use_beam_search: passes,
  top_k: passes,
  min_p: passes,
  repetition_penalty: passes,
  watermarking: passes,
  length_penalty: passes,
  stop_token_ids: passes,
  include_stop_str_in_output: passes,
  ignore_eos: passes,
  min_tokens: passes,
  skip_special_tokens: passes,
  spaces_between_special_tokens: passes,
  truncate_prompt_tokens: passes,
  truncation_side: passes,
  prompt_logprobs: passes,
  logprob_token_ids: passes,
  allowed_token_ids: passes,
  bad_words: passes,
  echo: passes,
  add_special_tokens: passes,
  structured_outputs: passes,
  priority: passes,
  request_id: passes,
  session_id: passes,
  return_tokens_as_token_ids: passes,
  return_token_ids: passes,
  routed_experts_prompt_start: passes,
  return_token_offsets: passes,
  mm_payload: passes,
  return_mm_kwargs: passes,
  // Combined with the gateway's own salt.
  cache_salt: passes,
  vllm_xargs: passes,
  repetition_detection: passes,
  stream_interval: passes,

  kv_transfer_params: movesMemory,
  ec_transfer_params: movesMemory,
  mm_processor_kwargs: changesMedia,
  guided_json: isGone,
  guided_regex: isGone,
  guided_choice: isGone,
  guided_grammar: isGone,
}

/**
 * How each field of a chat is handled. The list contains the fields of vLLM, of the interface document and of older
 * clients.
 *
 * docs/inference.md lists the rejected fields. chat_fields_test.py checks that every field of vLLM is declared.
 */
export const chatFields: Fields = {
  ...samplingFields,
  messages: passes,
  top_logprobs: passes,
  max_completion_tokens: passes,
  tools: passes,
  tool_choice: passes,
  // Converted to tools.
  functions: passes,
  function_call: passes,
  reasoning_effort: passes,
  include_reasoning: passes,
  parallel_tool_calls: passes,
  add_generation_prompt: passes,
  continue_final_message: passes,
  documents: passes,
  // Variables of the model's own template, except for `templateFields`.
  chat_template_kwargs: passes,
  return_prompt_text: passes,
  engine_xargs: passes,

  chat_template: runsCode,
  logits_processors: runsCode,
  media_io_kwargs: changesMedia,
  prompt_embeds: 'the engine would deserialize it as a tensor: send text',
  guided_decoding_backend: isGone,
  guided_whitespace_pattern: isGone,
}

/**
 * Members of `engine_xargs` (`vllm_xargs`): numbers that some models of vLLM read, and members that would change the
 * engine itself.
 */
export const argumentFields: Fields = {
  ngram_size: passes,
  window_size: passes,
  whitelist_token_ids: passes,
  session_id: passes,

  kv_transfer_params: movesMemory,
  ec_transfer_params: movesMemory,
  kv_cache_report_mode: 'it changes what the engine reports about the cache that all entities share',
  diffusion_canvas_length: 'it sets how much memory the engine uses',
  diffusion_max_steps: 'it sets how much memory the engine uses',
  diffusion_read_only: 'it sets how much memory the engine uses',
}

/**
 * Members of `chat_template_kwargs` that are arguments of the call which renders the template. vLLM passes these on. Of
 * all other members, it passes on only variables of the model's own template.
 */
export const templateFields: Fields = {
  add_generation_prompt: passes,
  continue_final_message: passes,
  documents: passes,

  chat_template: runsCode,
  tokenizer_kwargs: sizesPrompts,
  padding: sizesPrompts,
  max_length: sizesPrompts,
  truncation: sizesPrompts,
  conversation: useChatFields,
  tools: useChatFields,
  tokenize: changesKind,
  return_tensors: changesKind,
  return_dict: changesKind,
  return_assistant_tokens_mask: changesKind,
}

/** Whether a member is passed to engines. */
export function isPassed(fields: Fields, name: string): boolean {
  return Object.hasOwn(fields, name) && fields[name] === passes
}
