import { unprocessable, type ValidationIssue } from '../../../lib/http/http-error.ts'
import type { JsonDocument } from '../../../lib/json/document.ts'
import { omitUnpassed } from '../omit-members.ts'
import type { CheckedBody } from '../passthrough.ts'
import { findUnsupported } from '../chat/unsupported-fields.ts'
import { describeNonGenerative, findTextIssues } from '../non-generative.ts'
import { embeddingFields } from './fields.ts'
import { parseEmbeddingRequest, type EmbeddingRequest } from './schema.ts'

// OpenAI's limit.
const maxInputs = 2_048

/**
 * Checks a request for embeddings, and returns how it is changed for engines. @throws {HttpError} 422 with the issues
 */
export function checkEmbedding(document: JsonDocument): CheckedBody {
  const request = parseEmbeddingRequest(document)
  const issues = [
    ...findUnsupported(request, embeddingFields, []),
    ...findTextIssues(request, 'input'),
    ...findMany(request),
  ]
  if (issues.length > 0) throw unprocessable(...issues)
  const change: CheckedBody['change'] = ({ engineName, cacheSalt }) => ({
    ...omitUnpassed(request, embeddingFields),
    cache_salt: cacheSalt,
    model: engineName,
  })
  return describeNonGenerative(request, change, countInputs(request))
}

/** A list of token ids is one input. */
function countInputs({ input }: EmbeddingRequest): number {
  return Array.isArray(input) && typeof input[0] !== 'number' ? input.length : 1
}

function findMany(request: EmbeddingRequest): ValidationIssue[] {
  const count = countInputs(request)
  if (count <= maxInputs) return []
  const msg = `A request should have at most ${maxInputs} inputs, not ${count}`
  return [{ loc: ['body', 'input'], msg, type: 'too_long' }]
}
