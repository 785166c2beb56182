import type { ThreadFunction } from '../../../lib/worker-threads/program.ts'
import { buildCall, type SpanTask } from './build-call.ts'
import { packCall, type PackedCall } from './packed-call.ts'

/** The call of a span, packed for its way between threads, or why it has none. */
export type PackedOutcome = { call: PackedCall } | { rejected: string }

function build(task: SpanTask): PackedOutcome {
  const built = buildCall(task)
  return 'call' in built ? { call: packCall(built.call) } : built
}

export default { run: build } satisfies ThreadFunction<SpanTask, PackedOutcome>
