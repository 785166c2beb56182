import type { JobWarning } from '../../db/jobs/warnings.ts'
import { cutText } from './scrub.ts'

/** What a message may hold in the row, the event and the resource's status. */
const maxMessageLength = 500

/** Warnings as they are kept: short, and without secrets. */
export function prepareWarnings(warnings: JobWarning[] | undefined): JobWarning[] | undefined {
  return warnings?.map(({ code, message }) => ({ code, message: cutText(message, maxMessageLength) }))
}
