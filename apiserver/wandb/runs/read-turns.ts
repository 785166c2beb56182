import { FairSemaphore } from '../../../lib/fair-semaphore.ts'
import type { Caller } from '../../accounts/context.ts'
import { turnOf } from '../../accounts/limits/turn.ts'

// A filter is computed for each run of a project, and a sample for each line of a run. Other requests, and other
// entities here, must still get connections to the database.
const reads = new FairSemaphore({ permits: 4, permitsPerKey: 2 })

/** Reads many runs or lines, when it is the turn of the caller's entity. */
export function readInTurn<T>(caller: Caller, read: () => Promise<T>): Promise<T> {
  return reads.run(turnOf(caller), read)
}
