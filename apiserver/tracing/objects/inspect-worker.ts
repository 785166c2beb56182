import { isAboutValues } from '../errors.ts'
import type { ThreadFunction } from '../../../lib/worker-threads/program.ts'
import { inspectValue, type GivenValue, type InspectedValue } from './inspect-value.ts'

/** What a thread answers: what is kept of the value, or the error. */
export type InspectOutcome = { inspected: InspectedValue } | { error: { code: string; reason: string } }

/** As `inspectValue`; it returns errors, because errors that a thread throws lose their class. */
function inspect(given: GivenValue): InspectOutcome {
  try {
    return { inspected: inspectValue(given) }
  } catch (error) {
    if (isAboutValues(error)) return { error: { code: error.code, reason: error.message } }
    throw error
  }
}

export default { run: inspect } satisfies ThreadFunction<GivenValue, InspectOutcome>
