import { passes, samplingFields, type Fields } from '../chat/chat-fields.ts'

/**
 * How each field of a completion is handled. The list contains the fields of vLLM and of OpenAI.
 *
 * docs/inference.md lists the rejected fields. endpoint_fields_test.py checks that every field of vLLM is declared.
 */
export const completionFields: Fields = {
  ...samplingFields,
  prompt: passes,
  suffix: passes,
  prompt_embeds: 'the engine would deserialize it as a tensor: send text or token ids',
}
