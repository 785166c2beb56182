import { setTimeout as delay } from 'node:timers/promises'
import type { LeaderElector } from '../lib/kube/leader.ts'
import type { Logger } from '../lib/log.ts'
import type { LeaderTasks } from './leader-tasks.ts'

interface Deps {
  leader: LeaderTasks
  elector: LeaderElector
  log: Logger
}

// With the release of the Lease, another replica leads within three seconds.
const closeMs = 2_000

/**
 * Ends the tasks of the leader, then gives up the Lease. An engine or a store may answer much later. Then the Lease is
 * given up all the same, and the process must end at once: each task may end anywhere. Returns whether all tasks ended.
 */
export async function stepDown({ leader, elector, log }: Deps): Promise<boolean> {
  const closing = leader.close().then(
    () => true,
    (error: unknown) => {
      log.warn({ error }, 'the tasks of the leader did not end as they should')
      return false
    },
  )
  const hasEnded = await Promise.race([closing, delay(closeMs, false)])
  if (!hasEnded) log.warn('tasks of the leader are broken off')
  await elector.release().catch((error: unknown) => log.warn({ error }, 'the lease was not given up'))
  return hasEnded
}
