import { tooLarge } from '../errors.ts'
import type { WorkerPool } from '../../../lib/worker-threads/pool.ts'
import { type BuiltCall, buildCall, type SpanTask } from './build-call.ts'
import { OtlpError } from './otlp-error.ts'
import { unpackCall } from './packed-call.ts'
import type { PackedOutcome } from './build-worker.ts'
import type { SplitOutcome } from './split-worker.ts'
import { splitJson, type SplitRequest } from './split-json.ts'

const buildModule = new URL('build-worker.ts', import.meta.url)
const splitModule = new URL('split-worker.ts', import.meta.url)
// Content of this size takes at most about ten milliseconds.
const maxMainThreadBytes = 64 * 1024
// The largest content takes some seconds on a core of its own.
const timeoutMs = 20_000

/**
 * Builds calls from spans. Large spans are built in worker threads, so that other requests do not wait. Entities take
 * turns.
 */
export class SpanBuilder {
  readonly #threads: WorkerPool

  constructor(heavy: WorkerPool) {
    this.#threads = heavy
  }

  async build(task: SpanTask): Promise<BuiltCall> {
    if (task.span.bytes.length <= maxMainThreadBytes) return buildCall(task)
    const { span, context } = task
    // A copy without the rest of the request, which shares the buffer. It is transferred, which saves another copy.
    const bytes = new Uint8Array(span.bytes)
    const moved = { span: { ...span, bytes }, context }
    const asked = { module: buildModule, task: moved, timeoutMs, transfer: [bytes.buffer] }
    const outcome = await this.#threads.run<SpanTask, PackedOutcome>(asked)
    if (!outcome) return { rejected: 'Rejected a span: it needs too much memory or time' }
    return 'call' in outcome ? { call: unpackCall(outcome.call) } : outcome
  }

  /**
   * Finds the parts of a request in JSON.
   *
   * @throws {OtlpError} for an invalid request
   * @throws {HttpError} 413 when it takes too much time or memory
   */
  async split(bytes: Buffer): Promise<SplitRequest> {
    if (bytes.length <= maxMainThreadBytes) return splitJson(bytes)
    const own = new Uint8Array(bytes)
    const asked = { module: splitModule, task: own, timeoutMs, transfer: [own.buffer] }
    const outcome = await this.#threads.run<Uint8Array, SplitOutcome>(asked)
    if (!outcome) throw tooLarge()
    if ('error' in outcome) throw new OtlpError(outcome.error)
    return outcome.split
  }
}
