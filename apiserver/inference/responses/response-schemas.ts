import { Type } from 'typebox'

const item = Type.Object({ type: Type.String() })
const tokenIds = Type.Array(Type.Integer())

/** The members of a response that clients depend on. */
export const responseSchema = Type.Object({
  id: Type.String(),
  object: Type.Literal('response'),
  created_at: Type.Integer(),
  status: Type.Enum(['completed', 'incomplete']),
  model: Type.String(),
  output: Type.Array(item),
  usage: Type.Unsafe<object | null>({
    type: ['object', 'null'],
    properties: {
      input_tokens: Type.Integer(),
      output_tokens: Type.Integer(),
      total_tokens: Type.Integer(),
    },
  }),
  token_generations: Type.Optional(
    Type.Array(
      Type.Object({
        prompt_token_ids: tokenIds,
        output_tokens: Type.Array(Type.Object({ token_id: Type.Integer(), logprob: Type.Optional(Type.Number()) })),
        output_indices: Type.Array(Type.Integer()),
        sampling: Type.Optional(Type.Object({})),
      }),
    ),
  ),
})

export const inputItemSchema = Type.Object({ id: Type.String(), type: Type.String() })

export const deletedResponseSchema = Type.Object({
  id: Type.String(),
  object: Type.Literal('response'),
  deleted: Type.Literal(true),
})
