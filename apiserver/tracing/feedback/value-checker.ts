import { WorkerPool } from '../../../lib/worker-threads/pool.ts'
import { memoryPlan, toResourceLimits } from '../../accounts/limits/memory-plan.ts'
import type { Admission } from '../../accounts/limits/admission.ts'
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

/** Checks values against schemas from users, in worker threads. Threads start when they are needed. */
export class ValueChecker {
  readonly #threads = new WorkerPool(threads)
  readonly #timeoutMs: number
  readonly #admission: Pick<Admission, 'run'>

  constructor(admission: Pick<Admission, 'run'>, timeoutMs = defaultTimeoutMs) {
    this.#admission = admission
    this.#timeoutMs = timeoutMs
  }

  /**
   * Entities take turns. A schema longer than 64 KiB is bad, and so is one that takes too much time or memory.
   *
   * @throws {LimitError} 429 when too many checks are in progress
   */
  async check(task: CheckTask): Promise<CheckOutcome> {
    if (task.schema.length > maxSchemaLength) return 'bad schema'
    const asked = { module, task, timeoutMs: this.#timeoutMs }
    const outcome = await this.#admission.run('annotation_checks', () =>
      this.#threads.run<CheckTask, CheckOutcome>(asked),
    )
    return outcome ?? 'bad schema'
  }
}
