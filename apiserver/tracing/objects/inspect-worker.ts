import { isAboutValues } from '../errors.ts'
import type { ThreadFunction } from '../../../lib/worker-threads/program.ts'
import { inspectValue, type GivenValue, type InspectedValue } from './inspect-value.ts'

/** The outcome in a thread: the inspected value, or the error. */
export type InspectOutcome = { inspected: InspectedValue } | { error: { code: string; reason: string } }

/** Runs `inspectValue`. It returns errors, because an error that a thread throws loses its class. */
function inspect(given: GivenValue): InspectOutcome {
  try {
    return { inspected: inspectValue(given) }
  } catch (error) {
    if (isAboutValues(error)) return { error: { code: error.code, reason: error.message } }
    throw error
  }
}

export default { run: inspect } satisfies ThreadFunction<GivenValue, InspectOutcome>
