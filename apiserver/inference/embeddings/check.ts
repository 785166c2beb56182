import { unprocessable, valueError, type ValidationIssue } from '../../../lib/http/http-error.ts'
import type { JsonDocument } from '../../../lib/json/document.ts'
import { templateFields } from '../chat/chat-fields.ts'
import { leaveOut } from '../leave-out.ts'
import { findUnsupportedMedia } from '../chat/media.ts'
import type { CheckedBody } from '../passthrough.ts'
import { findUnsupported } from '../chat/unsupported-fields.ts'
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
    ...findUnsupported(request.chat_template_kwargs, templateFields, ['chat_template_kwargs']),
    ...findUnsupportedMedia({ messages: request.messages ?? [] }),
    ...findOther(request),
    ...findMany(request),
  ]
  if (issues.length > 0) throw unprocessable(...issues)
  return {
    model: request.model ?? undefined,
    cacheSalt: request.cache_salt,
    hidesUsage: false,
    // Engines cache nothing of an embedding for later requests.
    prefix: '',
    maxSampledTokens: 0,
    change: ({ engineName, cacheSalt }) => ({
      ...leaveOut(request, embeddingFields),
      cache_salt: cacheSalt,
      model: engineName,
    }),
    // Only the engine knows the length of a vector. A reply is bounded while it is read.
    rejectLargeReply: () => {},
  }
}

function findOther({ input = null, messages = null }: EmbeddingRequest): ValidationIssue[] {
  if ((input === null) !== (messages === null)) return []
  return [valueError(['body', 'input'], 'send either input or messages')]
}

function findMany({ input }: EmbeddingRequest): ValidationIssue[] {
  if (!Array.isArray(input) || typeof input[0] === 'number' || input.length <= maxInputs) return []
  const msg = `A request should have at most ${maxInputs} inputs, not ${input.length}`
  return [{ loc: ['body', 'input'], msg, type: 'too_long' }]
}
