import type { FeedbackRow, StoredFeedback } from '../../../db/tracing/feedback.ts'
import { rawObject, rawText } from '../../../lib/json/raw.ts'

/** JSON text of what a client is told of feedback that was stored. */
export function presentStored({ id, createdAt, wbUserId, payload }: StoredFeedback): string {
  return rawObject({ id, created_at: createdAt, wb_user_id: wbUserId, payload: rawText(payload) })
}

/** JSON text of feedback as `summary.weave.feedback` has it. */
export function presentOfCall(row: FeedbackRow): string {
  return rawObject({
    id: row.id,
    feedback_type: row.feedbackType,
    weave_ref: row.weaveRef,
    payload: rawText(row.payload),
    creator: row.creator,
    created_at: row.createdAt,
    wb_user_id: row.wbUserId,
    runnable_ref: row.runnableRef,
    call_ref: row.callRef,
    trigger_ref: row.triggerRef,
    annotation_ref: row.annotationRef,
  })
}
