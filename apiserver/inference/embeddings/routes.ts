import type { RestApi } from '../../accounts/rest-api.ts'
import { passRequests, type GatewayDeps } from '../gateway.ts'
import type { Passthrough } from '../passthrough.ts'
import { checkEmbedding } from './check.ts'
import { embeddingAnswer, embeddingRequestSchema } from './schema.ts'

const passthrough: Passthrough = { enginePath: '/v1/embeddings', check: checkEmbedding }

/** Embeddings, for base models whose engines support them. */
export function routeEmbeddings(api: RestApi, deps: GatewayDeps): void {
  api.post(
    '/v1/embeddings',
    {
      tag: 'Inference',
      summary: 'Create embeddings',
      description: 'Base models that generate text have no embeddings. For these, the answer is a 400.',
      role: 'read',
      streamedBody: { 'application/json': embeddingRequestSchema },
      answer: embeddingAnswer,
      errorStatuses: [400],
      cost: { permit: 'concurrent_streams' },
    },
    passRequests(deps, passthrough),
  )
}
