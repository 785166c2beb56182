import { parentPort } from 'node:worker_threads'
import { TraceRefusal } from '../refusals.ts'
import { inspectValue, type GivenValue, type InspectedValue } from './inspect-value.ts'

/** What the thread answers: what is kept of the value, or why it is refused. */
export type InspectOutcome = { inspected: InspectedValue } | { refused: { status: number; reason: string } }

function inspect(given: GivenValue): InspectOutcome {
  try {
    return { inspected: inspectValue(given) }
  } catch (error) {
    if (error instanceof TraceRefusal) return { refused: { status: error.status, reason: error.message } }
    throw error
  }
}

const noTransfer: [] = []
const port = parentPort!
port.on('message', (given: GivenValue) => port.postMessage(inspect(given), noTransfer))
