import { Type, type Static } from 'typebox'
import { jsonText, optional, projectIdSchema } from '../schema.ts'

const refSchema = optional(Type.String())
// The id is in indexes, whose entries may have about 2,700 bytes.
const idSchema = Type.String({ maxLength: 256 })

const members = {
  project_id: projectIdSchema,
  id: optional(idSchema),
  weave_ref: Type.String(),
  creator: optional(Type.String()),
  feedback_type: Type.String(),
  payload: jsonText(),
  annotation_ref: refSchema,
  runnable_ref: refSchema,
  call_ref: refSchema,
  trigger_ref: refSchema,
}

/** POST /feedback/create. */
export const feedbackCreateSchema = Type.Object(members)
export const feedbackTexts = ['payload']

export type WireFeedback = Static<typeof feedbackCreateSchema>

/** POST /feedback/batch/create. */
export const feedbackBatchSchema = Type.Object({ batch: Type.Array(feedbackCreateSchema) })
export const feedbackBatchTexts = ['batch[].payload']

/** POST /feedback/replace. */
export const feedbackReplaceSchema = Type.Object({ ...members, feedback_id: Type.String() })

/** The answer to stored feedback. */
export const feedbackSchema = Type.Object({
  id: Type.String(),
  created_at: Type.String({ format: 'date-time' }),
  wb_user_id: Type.String(),
  payload: Type.Object({}),
})
export const feedbackBatchAnswerSchema = Type.Object({ res: Type.Array(feedbackSchema) })
export const feedbackRowsSchema = Type.Object({ result: Type.Array(Type.Object({})) })
