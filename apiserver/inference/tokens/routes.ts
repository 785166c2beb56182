import type { RestApi } from '../../accounts/rest-api.ts'
import { passRequests, type GatewayDeps } from '../gateway.ts'
import { checkDetokenize, checkTokenize } from './check.ts'
import { detokenizeAnswer, detokenizeRequestSchema, tokenizeAnswer, tokenizeRequestSchema } from './schema.ts'

/**
 * Tokens of texts and chats, and texts of tokens. They are served at vLLM's paths, and below the base URL of OpenAI's
 * clients.
 */
export function routeTokens(api: RestApi, deps: GatewayDeps): void {
  const shared = {
    tag: 'Inference',
    role: 'read',
    errorStatuses: [400],
    cost: { permit: 'concurrent_streams' },
  } as const
  for (const root of ['', '/v1']) {
    api.post(
      `${root}/tokenize`,
      {
        ...shared,
        summary: 'Get the tokens of a text or a chat',
        streamedBody: { 'application/json': tokenizeRequestSchema },
        answer: tokenizeAnswer,
      },
      passRequests(deps, { enginePath: '/tokenize', check: checkTokenize }),
    )
    api.post(
      `${root}/detokenize`,
      {
        ...shared,
        summary: 'Get the text of tokens',
        streamedBody: { 'application/json': detokenizeRequestSchema },
        answer: detokenizeAnswer,
      },
      passRequests(deps, { enginePath: '/detokenize', check: checkDetokenize }),
    )
  }
}
