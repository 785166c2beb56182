import type { Turn } from '../../limits/turn.ts'
import { TaskThreads } from '../task-threads.ts'
import { type BuiltCall, buildCall, type SpanTask } from './build-call.ts'
import { unpackCall } from './packed-call.ts'
import type { PackedOutcome } from './span-worker.ts'

// Built in some ten milliseconds, whatever they hold.
const inPlaceUpTo = 64 * 1024
// The largest span takes some seconds on a core of its own, and some of this memory.
const plan = { timeoutMs: 20_000, resourceLimits: { maxOldGenerationSizeMb: 320 } }

const startTask: SpanTask = {
  span: { format: 'protobuf', bytes: new Uint8Array() },
  surroundings: { projectId: '', resource: '', wbUserId: '', wbRunId: undefined },
}

/** Without the rest of the request: a thread gets all of the memory that bytes are a part of. */
function withOwnBytes({ span, surroundings }: SpanTask): SpanTask {
  return { span: { ...span, bytes: new Uint8Array(span.bytes) }, surroundings }
}

/** Builds calls of spans; of large ones in threads, in which entities take turns, so that nobody else waits meanwhile. */
export class SpanBuilder {
  readonly #threads = new TaskThreads<SpanTask, PackedOutcome>({
    ...plan,
    program: new URL('span-worker.ts', import.meta.url),
    startTask,
  })

  async build(task: SpanTask, turn: Turn): Promise<BuiltCall> {
    if (task.span.bytes.length <= inPlaceUpTo) return buildCall(task)
    const outcome = await this.#threads.ask(withOwnBytes(task), turn)
    if (!outcome) return { rejected: 'Rejected a span: it takes too much memory or time' }
    return 'call' in outcome ? { call: unpackCall(outcome.call) } : outcome
  }
}
