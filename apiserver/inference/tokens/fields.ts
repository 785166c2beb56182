import { changesMedia, passes, runsCode, type Fields } from '../chat/chat-fields.ts'

/**
 * How each field of a request for tokens is handled. endpoint_fields_test.py checks that every field of vLLM is
 * declared.
 */
export const tokenizeFields: Fields = {
  model: passes,
  prompt: passes,
  messages: passes,
  tools: passes,
  add_generation_prompt: passes,
  continue_final_message: passes,
  add_special_tokens: passes,
  return_token_strs: passes,
  chat_template_kwargs: passes,

  chat_template: runsCode,
  media_io_kwargs: changesMedia,
  mm_processor_kwargs: changesMedia,
}

/** How each field of a request for the text of tokens is handled. */
export const detokenizeFields: Fields = {
  model: passes,
  tokens: passes,
}
