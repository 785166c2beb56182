import type { FeedbackRow, StoredFeedback } from '../../../db/tracing/feedback.ts'
import { rawObject, rawText } from '../../../lib/json/raw.ts'

/** The answer to stored feedback, as JSON text. */
export function presentStored({ id, createdAt, wbUserId, payload }: StoredFeedback): string {
  return rawObject({ id, created_at: createdAt, wb_user_id: wbUserId, payload: rawText(payload) })
}

/** Feedback in `summary.weave.feedback`, as JSON text. */
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
