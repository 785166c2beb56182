import { Type, type Static } from 'typebox'
import { compileBody } from '../../../lib/http/validation/compile.ts'
import { nullable } from '../../../lib/http/validation/nullable.ts'
import { messageSchema } from '../chat/chat-schema.ts'

type Inputs = string | (string | number | number[])[]

/** A request for the embeddings of texts, token ids or a chat. */
export const embeddingRequestSchema = Type.Object({
  model: Type.Optional(nullable(Type.String())),
  // A list of token ids is one input.
  input: Type.Optional(
    Type.Unsafe<Inputs | null>({
      type: ['string', 'array', 'null'],
      minItems: 1,
      items: { type: ['string', 'integer', 'array'], items: { type: 'integer' } },
    }),
  ),
  messages: Type.Optional(nullable(Type.Array(messageSchema, { minItems: 1 }))),
  // Engines also know encodings that are not JSON.
  encoding_format: Type.Optional(nullable(Type.Enum(['float', 'base64']))),
  dimensions: Type.Optional(nullable(Type.Integer({ minimum: 1 }))),
  chat_template_kwargs: Type.Optional(nullable(Type.Object({}))),
  priority: Type.Optional(nullable(Type.Enum([0]))),
  cache_salt: Type.Optional(nullable(Type.String())),
})

export type EmbeddingRequest = Static<typeof embeddingRequestSchema>
export const parseEmbeddingRequest = compileBody(embeddingRequestSchema)

export const embeddingAnswer = Type.Object({
  object: Type.Literal('list'),
  model: Type.String(),
  data: Type.Array(Type.Object({ object: Type.Literal('embedding'), index: Type.Integer() })),
  usage: Type.Object({ prompt_tokens: Type.Integer(), total_tokens: Type.Integer() }),
})
