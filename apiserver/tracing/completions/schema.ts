import { Type, type Static } from 'typebox'
import { idSchema, optionalIdSchema } from '../calls/schema.ts'
import { jsonText, optional, projectIdSchema } from '../schema.ts'

/** POST /completions/create and /completions/create_stream. `inputs` are those of a chat: see chat-inputs.ts. */
export const completionSchema = Type.Object({
  project_id: projectIdSchema,
  inputs: jsonText(),
  track_llm_call: optional(Type.Boolean()),
  trace_id: optional(idSchema),
  parent_id: optional(optionalIdSchema),
})
export const completionTexts = ['inputs']

export type CompletionRequest = Static<typeof completionSchema>

export const completionAnswer = Type.Object({
  /** A chat completion, or `{"error": text}`. */
  response: Type.Object({}),
  weave_call_id: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
})
