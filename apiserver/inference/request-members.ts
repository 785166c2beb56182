import { Type, type Static, type TSchema } from 'typebox'
import { nullable } from '../../lib/http/validation/nullable.ts'

type Members = Record<string, TSchema>

/** Members that a request may leave out or set to null. */
export type OptionalMembers<M extends Members> = { [Name in keyof M]?: Static<M[Name]> | null }

/** The schemas of members that a request may leave out or set to null. */
export function describeOptional(members: Members): Members {
  return Object.fromEntries(Object.entries(members).map(([name, schema]) => [name, nullable(schema)]))
}

const integers = Type.Array(Type.Integer())

/** What chats, completions and responses have in common. */
export const sharedMembers = {
  model: Type.String(),
  stream: Type.Boolean(),
  stream_options: Type.Object({}),
  temperature: Type.Number(),
  top_p: Type.Number(),
  user: Type.String(),
}

/** What chats and completions have in common: how tokens are sampled, and what engines know of a request. */
export const samplingMembers = {
  ...sharedMembers,
  frequency_penalty: Type.Number(),
  presence_penalty: Type.Number(),
  logit_bias: Type.Object({}),
  allowed_token_ids: integers,
  stop: Type.Unsafe<unknown>({ type: ['string', 'array'] }),
  stop_token_ids: integers,
  min_tokens: Type.Integer(),
  echo: Type.Boolean(),
  prompt_logprobs: Type.Integer(),
  return_token_ids: Type.Boolean(),
  response_format: Type.Object({}),
  structured_outputs: Type.Object({}),
  // Our engines schedule requests in order of arrival. vLLM then rejects any other value.
  priority: Type.Enum([0]),
  request_id: Type.String(),
  cache_salt: Type.String(),
}
