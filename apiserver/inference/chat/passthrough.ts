import type { Passthrough } from '../passthrough.ts'
import { checkChat } from './check-chat.ts'

/** Chat completions. */
export const chatPassthrough: Passthrough = {
  enginePath: '/v1/chat/completions',
  tracedAs: 'openai.chat.completions.create',
  check: checkChat,
}
