import { Type } from 'typebox'
import { nullable } from '../../lib/http/validation/nullable.ts'

const nullableInteger = Type.Unsafe<number | null>({ type: ['integer', 'null'] })

/** Members of a choice that training needs. */
export const trainedMembers = {
  prompt_token_ids: Type.Optional(nullable(Type.Array(Type.Integer()))),
  token_ids: Type.Optional(nullable(Type.Array(Type.Integer()))),
  sampling: Type.Optional(Type.Object({})),
}

/** The members of a chat completion that clients depend on. The engine's other members are passed on. */
export const chatCompletionSchema = Type.Object({
  id: Type.String(),
  object: Type.Literal('chat.completion'),
  created: Type.Integer(),
  model: Type.String(),
  choices: Type.Array(
    Type.Object({
      index: Type.Integer(),
      message: Type.Object({ role: Type.String() }),
      finish_reason: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
      ...trainedMembers,
    }),
  ),
  usage: Type.Object({
    prompt_tokens: Type.Integer(),
    total_tokens: Type.Integer(),
    completion_tokens: nullableInteger,
  }),
})

export const modelItemSchema = Type.Object({
  id: Type.String(),
  object: Type.Literal('model'),
  created: Type.Integer(),
  owned_by: Type.String(),
  root: Type.String(),
})

export const modelListSchema = Type.Object({
  object: Type.Literal('list'),
  data: Type.Array(modelItemSchema),
})
