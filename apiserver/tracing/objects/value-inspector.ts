import { HttpError } from '../../../lib/http/http-error.ts'
import { findError } from '../../errors/table.ts'
import { tooLarge } from '../errors.ts'
import type { Turn } from '../../accounts/limits/turn.ts'
import type { WorkerPool } from '../../../lib/worker-threads/pool.ts'
import { inspectValue, type GivenValue, type InspectedValue } from './inspect-value.ts'
import type { InspectOutcome } from './inspect-worker.ts'

const module = new URL('inspect-worker.ts', import.meta.url)
// Done in some 20 ms, about what others may be kept waiting for.
const inPlaceUpTo = 256 * 1024
// The largest body takes some seconds on a core of its own.
const timeoutMs = 120_000

/** Computes what is kept of values besides their texts; of large ones in threads, so that nobody else waits meanwhile. */
export class ValueInspector {
  readonly #threads: WorkerPool

  constructor(heavy: WorkerPool) {
    this.#threads = heavy
  }

  /**
   * Entities take turns.
   *
   * @throws {HttpError} 400 when the value does not fit its class, 413 for one that takes too much time or memory
   */
  async inspect({ val, builtinObjectClass }: GivenValue, turn: Turn): Promise<InspectedValue> {
    if (val.length <= inPlaceUpTo) return inspectValue({ val, builtinObjectClass })
    const asked = { module, task: { val, builtinObjectClass }, timeoutMs }
    const outcome = await this.#threads.run<GivenValue, InspectOutcome>(asked, turn)
    if (!outcome) throw tooLarge()
    if ('inspected' in outcome) return outcome.inspected
    throw new HttpError(findError(outcome.error.code), outcome.error.reason)
  }
}
