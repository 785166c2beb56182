const passes = null

const runsCode = 'it would run code of yours in an engine that others use, too'
const movesMemory = "it moves the engine's own memory between machines"
const changesMedia = 'it changes how the engine reads media for everybody who uses it'
const isGone = 'engines take no notice of it and would answer unconstrained: use structured_outputs or response_format'

/**
 * What becomes of each member of a chat: it goes to the engine, or it is refused, and why. The list is vLLM's, with what the
 * interface document and older clients have beside; members that are not in it mean nothing to an engine, and pass.
 *
 * docs/inference.md tells of the refused ones; chat_fields_test.py holds that every field of vLLM's is in it.
 */
export const chatFields: Readonly<Record<string, string | null>> = {
  messages: passes,
  model: passes,
  frequency_penalty: passes,
  logit_bias: passes,
  logprobs: passes,
  top_logprobs: passes,
  max_tokens: passes,
  max_completion_tokens: passes,
  n: passes,
  presence_penalty: passes,
  response_format: passes,
  seed: passes,
  stop: passes,
  stream: passes,
  stream_options: passes,
  temperature: passes,
  top_p: passes,
  tools: passes,
  tool_choice: passes,
  reasoning_effort: passes,
  thinking_token_budget: passes,
  include_reasoning: passes,
  parallel_tool_calls: passes,
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
  add_generation_prompt: passes,
  continue_final_message: passes,
  add_special_tokens: passes,
  documents: passes,
  // But for a template in it, see `refuseFields`.
  chat_template_kwargs: passes,
  structured_outputs: passes,
  priority: passes,
  request_id: passes,
  session_id: passes,
  return_tokens_as_token_ids: passes,
  return_token_ids: passes,
  routed_experts_prompt_start: passes,
  return_token_offsets: passes,
  return_prompt_text: passes,
  mm_payload: passes,
  return_mm_kwargs: passes,
  // Mixed with the gateway's own.
  cache_salt: passes,
  vllm_xargs: passes,
  engine_xargs: passes,
  repetition_detection: passes,
  stream_interval: passes,

  chat_template: runsCode,
  logits_processors: runsCode,
  kv_transfer_params: movesMemory,
  ec_transfer_params: movesMemory,
  mm_processor_kwargs: changesMedia,
  media_io_kwargs: changesMedia,
  prompt_embeds: 'the engine would unpack it as a tensor: send text',
  guided_json: isGone,
  guided_regex: isGone,
  guided_choice: isGone,
  guided_grammar: isGone,
  guided_decoding_backend: isGone,
  guided_whitespace_pattern: isGone,
}

/** Members of `engine_xargs` (`vllm_xargs`) that reach into the engine itself; all others are for its extensions. */
export const refusedArguments: Readonly<Record<string, string>> = {
  kv_transfer_params: movesMemory,
  ec_transfer_params: movesMemory,
  kv_cache_report_mode: "it changes what the engine tells of everybody's cache",
  diffusion_canvas_length: 'it sizes memory of the engine',
  diffusion_max_steps: 'it sizes memory of the engine',
  diffusion_read_only: 'it sizes memory of the engine',
}
