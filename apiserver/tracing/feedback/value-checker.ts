import { HttpError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import { FairSemaphore } from '../../../lib/fair-semaphore.ts'
import { WorkerPool } from '../../../lib/worker-threads/pool.ts'
import { memoryPlan, toResourceLimits } from '../../accounts/limits/memory-plan.ts'
import type { Turn } from '../../accounts/limits/turn.ts'
import type { CheckOutcome, CheckTask } from './check-value.ts'

// Users write the schemas: patterns may never end, and references may form circles. A thread can be ended.
const module = new URL('value-worker.ts', import.meta.url)
const threads = {
  threads: memoryPlan.schemaThreads.threads,
  threadsPerKey: 1,
  resourceLimits: { ...toResourceLimits(memoryPlan.schemaThreads), stackSizeMb: 4 },
}
// A typical schema has some hundred characters and takes a millisecond. The rest of the limit is for a busy machine.
const defaultTimeoutMs = 1_000
const maxSchemaLength = 64 * 1024
// With hostile schemas these take both threads a minute; with others, almost no time. One entity may have half of them.
const maxTasks = 120
const maxTasksPerEntity = 60

/** Checks values against schemas from users, in worker threads. Threads start when they are needed. */
export class ValueChecker {
  readonly #threads = new WorkerPool(threads)
  readonly #timeoutMs: number
  readonly #places = new FairSemaphore({ permits: maxTasks, permitsPerKey: maxTasksPerEntity })

  constructor(timeoutMs = defaultTimeoutMs) {
    this.#timeoutMs = timeoutMs
  }

  /**
   * Entities take turns. A schema longer than 64 KiB is bad, and so is one that takes too much time or memory.
   *
   * @throws {HttpError} 429 when too many checks are in progress
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
