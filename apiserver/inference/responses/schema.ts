import { Type } from 'typebox'
import { compileBody } from '../../../lib/http/validation/compile.ts'
import { nullable } from '../../../lib/http/validation/nullable.ts'
import { describeOptional, sharedMembers, type OptionalMembers } from '../request-members.ts'

// OpenAI's bounds, as its SDKs document them.
const maxMetadata = 16
const maxMetadataName = 64
const maxMetadataValue = 512
const maxIdentifier = 64
// The same limit as that of messages in chats.
const maxItems = 10_000

const flag = Type.Boolean()
const text = Type.String()

const tool = Type.Object({ type: text })

const textSettings = Type.Object({
  format: Type.Optional(nullable(Type.Object({ type: text }))),
  verbosity: Type.Optional(nullable(Type.Enum(['low', 'medium', 'high']))),
})

const reasoning = Type.Object({
  effort: Type.Optional(nullable(text)),
  summary: Type.Optional(nullable(text)),
})

const optionalFields = {
  ...sharedMembers,
  instructions: text,
  previous_response_id: text,
  store: flag,
  metadata: Type.Unsafe<Record<string, string>>({
    type: 'object',
    maxProperties: maxMetadata,
    propertyNames: { maxLength: maxMetadataName },
    additionalProperties: { type: 'string', maxLength: maxMetadataValue },
  }),
  max_output_tokens: Type.Integer({ minimum: 1 }),
  max_tool_calls: Type.Integer({ minimum: 0 }),
  top_logprobs: Type.Integer({ minimum: 0 }),
  include: Type.Array(text),
  reasoning,
  text: textSettings,
  tools: Type.Array(tool),
  tool_choice: Type.Unsafe<string | Record<string, unknown>>({ type: ['string', 'object'] }),
  parallel_tool_calls: flag,
  truncation: Type.Enum(['auto', 'disabled']),
  service_tier: text,
  safety_identifier: Type.String({ maxLength: maxIdentifier }),
  prompt_cache_key: Type.String({ maxLength: maxIdentifier }),
  prompt_cache_retention: text,
  background: flag,
}

/**
 * A request for a response. The schema has the types of the members that are converted. The chat that is built from
 * them is checked too.
 */
export const responseRequestSchema = Type.Unsafe<ResponseRequest>({
  type: 'object',
  properties: {
    input: Type.Unsafe({ type: ['string', 'array', 'null'], items: { type: 'object' }, maxItems }),
    ...describeOptional(optionalFields),
  },
})

export interface ResponseRequest extends OptionalMembers<typeof optionalFields> {
  input?: string | InputItem[] | null
  [more: string]: unknown
}

/** An item of a request's input, or of a response's output. Its other members are checked where they are used. */
export type InputItem = Record<string, unknown>

export const parseResponseRequest = compileBody(responseRequestSchema)
