import type { ThreadFunction } from '../../../lib/worker-threads/program.ts'
import { OtlpError } from './otlp-error.ts'
import { splitJson, type SplitRequest } from './split-json.ts'

/** The parts of a request, or what is wrong with it. */
export type SplitOutcome = { split: SplitRequest } | { error: string }

/** As `splitJson`; it returns errors, because errors that a thread throws lose their class. */
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
  // The thread does not need the request any more: it need not be in memory twice.
  listTransfers: (outcome) => ('split' in outcome ? [outcome.split.source.buffer] : []),
} satisfies ThreadFunction<Uint8Array<ArrayBuffer>, SplitOutcome>
