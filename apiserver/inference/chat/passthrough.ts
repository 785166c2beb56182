import type { Passthrough } from '../passthrough.ts'
import { checkChat } from './check-chat.ts'

/** Chat completions. */
export const chatPassthrough: Passthrough = { path: '/v1/chat/completions', check: checkChat }
