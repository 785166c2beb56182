import type { RestApi } from '../../accounts/rest-api.ts'
import type { Passthrough } from '../passthrough.ts'
import { checkDetokenize, checkTokenize } from './check.ts'
import { detokenizeAnswer, detokenizeRequestSchema, tokenizeAnswer, tokenizeRequestSchema } from './schema.ts'

const tokenize = { path: '/tokenize', check: checkTokenize }
const detokenize = { path: '/detokenize', check: checkDetokenize }

/**
 * Tokens of texts and chats, and texts of tokens. They are served at vLLM's paths, and below the base URL of OpenAI's
 * clients.
 */
export const tokenPassthroughs: readonly Passthrough[] = [tokenize, detokenize].flatMap((each) => [
  each,
  { ...each, path: `/v1${each.path}`, enginePath: each.path },
])

export function declareTokens(api: RestApi): void {
  const shared = { tag: 'Inference', role: 'read', errorStatuses: [400] } as const
  for (const root of ['', '/v1']) {
    api.declare('post', `${root}${tokenize.path}`, {
      ...shared,
      summary: 'Get the tokens of a text or a chat',
      streamedBody: { 'application/json': tokenizeRequestSchema },
      answer: tokenizeAnswer,
    })
    api.declare('post', `${root}${detokenize.path}`, {
      ...shared,
      summary: 'Get the text of tokens',
      streamedBody: { 'application/json': detokenizeRequestSchema },
      answer: detokenizeAnswer,
    })
  }
}
