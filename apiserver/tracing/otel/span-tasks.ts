import { buildCall, type SpanTask } from './build-call.ts'
import { OtelFault } from './fault.ts'
import { packCall, type PackedCall } from './packed-call.ts'
import { splitJson, type SplitRequest } from './split-json.ts'

/** What a thread answers to a span. */
export type PackedOutcome = { call: PackedCall } | { rejected: string }

/** What it answers to a request: its parts, or what is wrong with it. */
export type SplitOutcome = { split: SplitRequest } | { fault: string }

/** As `buildCall`, for a thread. */
export function buildInThread(task: SpanTask): PackedOutcome {
  const built = buildCall(task)
  return 'call' in built ? { call: packCall(built.call) } : built
}

/** As `splitJson`, for a thread: faults are told and not thrown. */
export function splitInThread(bytes: Uint8Array<ArrayBuffer>): SplitOutcome {
  try {
    return { split: splitJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)) }
  } catch (error) {
    if (error instanceof OtelFault) return { fault: error.message }
    throw error
  }
}
