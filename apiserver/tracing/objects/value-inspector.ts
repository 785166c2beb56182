import { HttpError } from '../../../lib/http/http-error.ts'
import { findError } from '../../errors/table.ts'
import { tooLarge } from '../errors.ts'
import type { WorkerPool } from '../../../lib/worker-threads/pool.ts'
import { inspectValue, type GivenValue, type InspectedValue } from './inspect-value.ts'
import type { InspectOutcome } from './inspect-worker.ts'

const module = new URL('inspect-worker.ts', import.meta.url)
// This takes about 20 ms, which other requests can wait for.
const maxMainThreadLength = 256 * 1024
// The largest body takes some seconds on a core of its own.
const timeoutMs = 120_000

/** Inspects values. Large values are inspected in worker threads, so that other requests do not wait. */
export class ValueInspector {
  readonly #threads: WorkerPool

  constructor(heavy: WorkerPool) {
    this.#threads = heavy
  }

  /**
   * Entities take turns.
   *
   * @throws {HttpError} 400 when the value has another class, 413 when it takes too much time or memory
   */
  async inspect({ val, builtinObjectClass, numbers }: GivenValue): Promise<InspectedValue> {
    if (val.length <= maxMainThreadLength) return inspectValue({ val, builtinObjectClass, numbers })
    const asked = { module, task: { val, builtinObjectClass, numbers }, timeoutMs }
    const outcome = await this.#threads.run<GivenValue, InspectOutcome>(asked)
    if (!outcome) throw tooLarge()
    if ('inspected' in outcome) return outcome.inspected
    throw new HttpError(findError(outcome.error.code), outcome.error.reason)
  }
}
