import { changesMedia, passes, runsCode, type Fields } from '../chat/chat-fields.ts'

/** What becomes of each member of a request for tokens. endpoint_fields_test.py checks that none of vLLM's is missing. */
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

/** The same for a request for the text of tokens. */
export const detokenizeFields: Fields = {
  model: passes,
  tokens: passes,
}
