import type { ThreadFunction } from '../../../lib/worker-threads/program.ts'
import { buildCall, type SpanTask } from './build-call.ts'
import { packCall, type PackedCall } from './packed-call.ts'

/** The call of a span in a form that can be transferred between threads, or the reason for its rejection. */
export type PackedOutcome = { call: PackedCall } | { rejected: string }

function build(task: SpanTask): PackedOutcome {
  const built = buildCall(task)
  return 'call' in built ? { call: packCall(built.call) } : built
}

export default { run: build } satisfies ThreadFunction<SpanTask, PackedOutcome>
