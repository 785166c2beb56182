import { TraceRefusal } from '../refusals.ts'
import { inspectValue, type GivenValue, type InspectedValue } from './inspect-value.ts'

/** What a thread answers: what is kept of the value, or why it is refused. */
export type InspectOutcome = { inspected: InspectedValue } | { refused: { status: number; reason: string } }

/** As `inspectValue`, for a thread: refusals are told and not thrown. */
export function inspectInThread(given: GivenValue): InspectOutcome {
  try {
    return { inspected: inspectValue(given) }
  } catch (error) {
    if (error instanceof TraceRefusal) return { refused: { status: error.status, reason: error.message } }
    throw error
  }
}
