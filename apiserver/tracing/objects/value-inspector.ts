import type { Turn } from '../../accounts/limits/turn.ts'
import type { HeavyTask } from '../../threads/heavy-worker.ts'
import type { ThreadPool } from '../../threads/thread-pool.ts'
import { tooLarge, TraceRefusal } from '../refusals.ts'
import { inspectValue, type GivenValue, type InspectedValue } from './inspect-value.ts'
import type { InspectOutcome } from './inspect-task.ts'

// Done in some 20 ms, about what others may be kept waiting for.
const inPlaceUpTo = 256 * 1024
// The largest body takes some seconds on a core of its own.
const timeoutMs = 120_000

/** Computes what is kept of values besides their texts; of large ones in threads, so that nobody else waits meanwhile. */
export class ValueInspector {
  readonly #threads: ThreadPool

  constructor(heavy: ThreadPool) {
    this.#threads = heavy
  }

  /**
   * Entities take turns.
   *
   * @throws {TraceRefusal} 400 when the value does not fit its class, 413 for one that takes too much time or memory
   */
  async inspect({ val, builtinObjectClass }: GivenValue, turn: Turn): Promise<InspectedValue> {
    if (val.length <= inPlaceUpTo) return inspectValue({ val, builtinObjectClass })
    const asked = { task: { inspect: { val, builtinObjectClass } }, timeoutMs }
    const outcome = await this.#threads.ask<HeavyTask, InspectOutcome>(asked, turn)
    if (!outcome) throw tooLarge()
    if ('inspected' in outcome) return outcome.inspected
    throw new TraceRefusal(outcome.refused.status, outcome.refused.reason)
  }
}
