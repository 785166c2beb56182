import { Type } from 'typebox'
import { compileBody } from '../../../lib/http/validation/compile.ts'
import { describeOptional, samplingMembers, type OptionalMembers } from '../request-members.ts'

const optionalFields = {
  ...samplingMembers,
  suffix: Type.String(),
  best_of: Type.Integer(),
  logprobs: Type.Integer(),
  max_tokens: Type.Integer({ minimum: 0 }),
  n: Type.Integer({ minimum: 1 }),
  seed: Type.Integer(),
  vllm_xargs: Type.Object({}),
}

/** A completion request. The schema has the types of the members that the gateway reads. The engine checks the rest. */
export const completionRequestSchema = Type.Unsafe<CompletionRequest>({
  type: 'object',
  required: ['prompt'],
  properties: {
    // A text, token ids, or a list of either.
    prompt: {
      type: ['string', 'array'],
      minItems: 1,
      items: { type: ['string', 'integer', 'array'], items: { type: 'integer' } },
    },
    ...describeOptional(optionalFields),
  },
})

export interface CompletionRequest extends OptionalMembers<typeof optionalFields> {
  prompt: string | (string | number | number[])[]
  [more: string]: unknown
}

export const parseCompletionRequest = compileBody(completionRequestSchema)
