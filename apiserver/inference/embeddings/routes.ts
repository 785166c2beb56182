import type { RestApi } from '../../accounts/rest-api.ts'
import type { Passthrough } from '../passthrough.ts'
import { checkEmbedding } from './check.ts'
import { embeddingAnswer, embeddingRequestSchema } from './schema.ts'

/** Embeddings, for base models whose engines support them. */
export const embeddingPassthrough: Passthrough = { path: '/v1/embeddings', check: checkEmbedding }

export function declareEmbeddings(api: RestApi): void {
  api.declare('post', embeddingPassthrough.path, {
    tag: 'Inference',
    summary: 'Create embeddings',
    description: 'Base models that generate text have no embeddings. For these, the answer is a 400.',
    role: 'read',
    streamedBody: { 'application/json': embeddingRequestSchema },
    answer: embeddingAnswer,
    errorStatuses: [400],
  })
}
