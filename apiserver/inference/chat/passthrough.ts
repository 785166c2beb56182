import type { Passthrough } from '../passthrough.ts'
import { checkChat } from './check-chat.ts'
import { usesFunctions } from './function-calls.ts'

/** Chat completions. */
export const chatPassthrough: Passthrough = {
  enginePath: '/v1/chat/completions',
  tracedAs: 'openai.chat.completions.create',
  usedMembers: ['model', 'cache_salt', 'stream_options', 'engine_xargs', 'vllm_xargs'],
  usesTexts: usesFunctions,
  check: checkChat,
}
