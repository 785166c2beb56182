import type { JobWarning } from '../../db/jobs/warnings.ts'
import { truncateScrubbed } from './scrub.ts'

/** The maximum in the row, the event and the resource's status. */
const maxMessageLength = 500

/** Shortens warnings and removes secrets from them. */
export function prepareWarnings(warnings: JobWarning[] | undefined): JobWarning[] | undefined {
  return warnings?.map(({ code, message }) => ({ code, message: truncateScrubbed(message, maxMessageLength) }))
}
