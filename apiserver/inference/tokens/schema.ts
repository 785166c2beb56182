import { Type } from 'typebox'
import { compileBody } from '../../../lib/http/validation/compile.ts'
import { nullable } from '../../../lib/http/validation/nullable.ts'
import { messageSchema } from '../chat/chat-schema.ts'

const flag = Type.Boolean()
const object = Type.Object({})

/** A request for the tokens of a text or a chat. */
export const tokenizeRequestSchema = Type.Object({
  model: Type.Optional(nullable(Type.String())),
  prompt: Type.Optional(nullable(Type.String())),
  messages: Type.Optional(nullable(Type.Array(messageSchema, { minItems: 1 }))),
  tools: Type.Optional(nullable(Type.Array(object))),
  add_generation_prompt: Type.Optional(flag),
  continue_final_message: Type.Optional(flag),
  add_special_tokens: Type.Optional(flag),
  return_token_strs: Type.Optional(nullable(flag)),
  chat_template_kwargs: Type.Optional(nullable(object)),
})

export const parseTokenizeRequest = compileBody(tokenizeRequestSchema)

/** A request for the text of tokens. */
export const detokenizeRequestSchema = Type.Object({
  model: Type.Optional(nullable(Type.String())),
  tokens: Type.Array(Type.Integer({ minimum: 0 })),
})

export const parseDetokenizeRequest = compileBody(detokenizeRequestSchema)

export const tokenizeAnswer = Type.Object({
  count: Type.Integer(),
  max_model_len: Type.Integer(),
  tokens: Type.Array(Type.Integer()),
  token_strs: Type.Unsafe<string[] | null>({ type: ['array', 'null'], items: { type: 'string' } }),
})

export const detokenizeAnswer = Type.Object({ prompt: Type.String() })
