import { changesMedia, passes, runsCode, sizesPrompts, type Fields } from '../chat/chat-fields.ts'

/**
 * How each field of a request for embeddings is handled. endpoint_fields_test.py checks that every field of vLLM is
 * declared.
 */
export const embeddingFields: Fields = {
  model: passes,
  input: passes,
  messages: passes,
  user: passes,
  dimensions: passes,
  encoding_format: passes,
  embed_dtype: passes,
  endianness: passes,
  use_activation: passes,
  truncate_prompt_tokens: passes,
  truncation_side: passes,
  add_special_tokens: passes,
  add_generation_prompt: passes,
  continue_final_message: passes,
  chat_template_kwargs: passes,
  request_id: passes,
  priority: passes,
  // Combined with the gateway's own salt.
  cache_salt: passes,

  chat_template: runsCode,
  padding: sizesPrompts,
  media_io_kwargs: changesMedia,
  mm_processor_kwargs: changesMedia,
}
