import { Type, type Static, type TSchema } from 'typebox'
import { compileBody } from '../../../lib/http/validation/compile.ts'
import { nullable } from '../../../lib/http/validation/nullable.ts'

const flag = Type.Boolean()
const integer = Type.Integer()
const number = Type.Number()
const text = Type.String()
const object = Type.Object({})
const integers = Type.Array(integer)

const optionalFields = {
  model: text,
  suffix: text,
  echo: flag,
  best_of: integer,
  frequency_penalty: number,
  logit_bias: object,
  logprobs: integer,
  max_tokens: Type.Integer({ minimum: 0 }),
  n: Type.Integer({ minimum: 1 }),
  presence_penalty: number,
  seed: integer,
  stop: Type.Unsafe<unknown>({ type: ['string', 'array'] }),
  stream: flag,
  stream_options: object,
  temperature: number,
  top_p: number,
  user: text,
  stop_token_ids: integers,
  allowed_token_ids: integers,
  min_tokens: integer,
  prompt_logprobs: integer,
  return_token_ids: flag,
  response_format: object,
  structured_outputs: object,
  // Our engines schedule requests in order of arrival. vLLM then rejects any other value.
  priority: Type.Enum([0]),
  request_id: text,
  cache_salt: text,
  vllm_xargs: object,
} satisfies Record<string, TSchema>

type OptionalFields = {
  [Name in keyof typeof optionalFields]?: Static<(typeof optionalFields)[Name]> | null
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
    ...Object.fromEntries(Object.entries(optionalFields).map(([name, schema]) => [name, nullable(schema)])),
  },
})

export interface CompletionRequest extends OptionalFields {
  prompt: string | (string | number | number[])[]
  [more: string]: unknown
}

export const parseCompletionRequest = compileBody(completionRequestSchema)
