import type { Passthrough } from '../passthrough.ts'
import { checkChat } from './check-chat.ts'

/** Chat completions. */
export const chatPassthrough: Passthrough = {
  path: '/v1/chat/completions',
  tracedAs: 'openai.chat.completions.create',
  usedMembers: ['model', 'cache_salt', 'stream_options', 'engine_xargs', 'vllm_xargs'],
  check: checkChat,
}
