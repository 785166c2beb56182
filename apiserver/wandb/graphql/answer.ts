import { HttpError } from '../../../lib/http/http-error.ts'
import { describeForGraphql } from '../errors.ts'
import { planRequest, type GraphqlRequest } from './plan.ts'
import type { GraphqlContext } from './resource.ts'
import { openRoot, requireKnown, type Roots } from './roots.ts'
import { FieldFailed, Walk } from './walk.ts'

/**
 * Answers a GraphQL request. An error about its values is in `errors`, with status 200, and clients do not retry it.
 *
 * @throws whatever clients should send the request again for: a missing database, memory or a rate
 */
export async function answerGraphql(roots: Roots, request: GraphqlRequest, context: GraphqlContext) {
  try {
    const { kind, fields } = planRequest(request)
    requireKnown(roots, kind, fields)
    return { data: await new Walk().resolveObject(openRoot(roots, kind, context), fields) }
  } catch (thrown) {
    const path = thrown instanceof FieldFailed ? thrown.path : undefined
    const error = thrown instanceof FieldFailed ? thrown.cause : thrown
    if (!(error instanceof HttpError) || isRetried(error)) throw error
    return { data: null, errors: [{ ...describeForGraphql(error), ...(path && { path }) }] }
  }
}

function isRetried({ status }: HttpError): boolean {
  return status >= 500 || status === 429
}
