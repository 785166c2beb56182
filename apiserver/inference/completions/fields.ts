import { passes, samplingFields, type Fields } from '../chat/chat-fields.ts'

/**
 * What becomes of each member of a completion. The list has vLLM's fields, and OpenAI's.
 *
 * docs/inference.md lists the rejected fields. endpoint_fields_test.py checks that every field of vLLM is declared.
 */
export const completionFields: Fields = {
  ...samplingFields,
  prompt: passes,
  suffix: passes,
  prompt_embeds: 'the engine would deserialize it as a tensor: send text or token ids',
}
