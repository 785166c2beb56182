import { HttpError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import { FairSemaphore } from '../../../lib/fair-semaphore.ts'
import { WorkerPool } from '../../../lib/worker-threads/pool.ts'
import { memoryPlan, toResourceLimits } from '../../accounts/limits/memory-plan.ts'
import type { Turn } from '../../accounts/limits/turn.ts'
import type { CheckOutcome, CheckTask } from './check-value.ts'

// Schemas are people's own: patterns that never end, references in circles. A thread of its own can be ended.
const module = new URL('value-worker.ts', import.meta.url)
const threads = {
  threads: memoryPlan.schemaThreads.threads,
  threadsPerKey: 1,
  resourceLimits: { ...toResourceLimits(memoryPlan.schemaThreads), stackSizeMb: 4 },
}
// People's schemas have some hundred characters, and take a millisecond. The rest of the time is for a machine that is busy.
const defaultTimeoutMs = 1_000
const maxSchemaLength = 64 * 1024
// A minute of hostile schemas, for both threads; of others, no time at all. Half of them may be one entity's.
const maxTasks = 120
const maxTasksPerEntity = 60

/** Checks values by schemas that anybody may have written, in threads that are started when they are needed. */
export class ValueChecker {
  readonly #threads = new WorkerPool(threads)
  readonly #timeoutMs: number
  readonly #places = new FairSemaphore({ permits: maxTasks, permitsPerKey: maxTasksPerEntity })

  constructor(timeoutMs = defaultTimeoutMs) {
    this.#timeoutMs = timeoutMs
  }

  /**
   * Entities take turns. A schema that takes too much time or memory, or is longer than 64 KiB, is a bad one.
   *
   * @throws {HttpError} 429 when too much is being checked already
   */
  async check(task: CheckTask, turn: Turn): Promise<CheckOutcome> {
    if (task.schema.length > maxSchemaLength) return 'bad schema'
    const release = this.#places.tryAcquire(turn)
    if (!release) throw tooMany(turn.key)
    try {
      const asked = { module, task, timeoutMs: this.#timeoutMs }
      return (await this.#threads.run<CheckTask, CheckOutcome>(asked, turn)) ?? 'bad schema'
    } finally {
      release()
    }
  }
}

function tooMany(entity: string): HttpError {
  const detail = `Too many annotations of ${entity}, or of all entities, are being checked. Send these again in some seconds.`
  return new HttpError(errors.concurrency_limit_exceeded, detail, { retryAfterSeconds: 10 })
}
