import { isAboutValues } from '../errors.ts'
import type { ThreadFunction } from '../../../lib/worker-threads/program.ts'
import { inspectValue, type GivenValue, type InspectedValue } from './inspect-value.ts'

/** What a thread answers: what is kept of the value, or why it is refused. */
export type InspectOutcome = { inspected: InspectedValue } | { refused: { code: string; reason: string } }

/** As `inspectValue`; it returns refusals, because errors that a thread throws lose their class. */
function inspect(given: GivenValue): InspectOutcome {
  try {
    return { inspected: inspectValue(given) }
  } catch (error) {
    if (isAboutValues(error)) return { refused: { code: error.code, reason: error.message } }
    throw error
  }
}

export default { run: inspect } satisfies ThreadFunction<GivenValue, InspectOutcome>
