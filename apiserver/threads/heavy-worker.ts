import { parentPort } from 'node:worker_threads'
import { inspectInThread } from '../tracing/objects/inspect-task.ts'
import type { GivenValue } from '../tracing/objects/inspect-value.ts'
import type { SpanTask } from '../tracing/otel/build-call.ts'
import { buildInThread, splitInThread } from '../tracing/otel/span-tasks.ts'
import { checkFile, type CheckTask } from '../training/ingest/check-file.ts'

/** All that takes long and much memory goes through the same threads, so that there are few. */
export type HeavyTask =
  | { check: CheckTask }
  | { inspect: GivenValue }
  | { build: SpanTask }
  | { split: Uint8Array<ArrayBuffer> }

function work(task: HeavyTask) {
  if ('check' in task) return checkFile(task.check)
  if ('inspect' in task) return inspectInThread(task.inspect)
  if ('build' in task) return buildInThread(task.build)
  return splitInThread(task.split)
}

const port = parentPort!
port.on('message', (task: HeavyTask) => {
  const outcome = work(task)
  // Nobody needs it here any more: it need not be there twice.
  port.postMessage(outcome, 'split' in outcome ? [outcome.split.source.buffer] : [])
})
