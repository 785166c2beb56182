import type { ThreadFunction } from '../../../lib/worker-threads/program.ts'
import { OtlpError } from './otlp-error.ts'
import { splitJson, type SplitRequest } from './split-json.ts'

/** The parts of a request, or its error. */
export type SplitOutcome = { split: SplitRequest } | { error: string }

/** Runs `splitJson`. It returns errors, because an error that a thread throws loses its class. */
function split(bytes: Uint8Array<ArrayBuffer>): SplitOutcome {
  try {
    return { split: splitJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)) }
  } catch (error) {
    if (error instanceof OtlpError) return { error: error.message }
    throw error
  }
}

export default {
  run: split,
  // The thread does not need the request any more. Transferring it saves a copy.
  listTransfers: (outcome) => ('split' in outcome ? [outcome.split.source.buffer] : []),
} satisfies ThreadFunction<Uint8Array<ArrayBuffer>, SplitOutcome>
