import { parentPort } from 'node:worker_threads'
import { buildCall, type SpanTask } from './build-call.ts'
import { packCall, type PackedCall } from './packed-call.ts'

/** What the thread answers. */
export type PackedOutcome = { call: PackedCall } | { rejected: string }

function build(task: SpanTask): PackedOutcome {
  const built = buildCall(task)
  return 'call' in built ? { call: packCall(built.call) } : built
}

const noTransfer: [] = []
const port = parentPort!
port.on('message', (task: SpanTask) => port.postMessage(build(task), noTransfer))
