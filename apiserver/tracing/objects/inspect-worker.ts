import type { ThreadFunction } from '../../../lib/worker-threads/program.ts'
import { TraceRefusal } from '../refusals.ts'
import { inspectValue, type GivenValue, type InspectedValue } from './inspect-value.ts'

/** What a thread answers: what is kept of the value, or why it is refused. */
export type InspectOutcome = { inspected: InspectedValue } | { refused: { status: number; reason: string } }

/** As `inspectValue`; it returns refusals, because errors that a thread throws lose their class. */
function inspect(given: GivenValue): InspectOutcome {
  try {
    return { inspected: inspectValue(given) }
  } catch (error) {
    if (error instanceof TraceRefusal) return { refused: { status: error.status, reason: error.message } }
    throw error
  }
}

export default { run: inspect } satisfies ThreadFunction<GivenValue, InspectOutcome>
