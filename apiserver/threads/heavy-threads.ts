import { memoryPlan, toResourceLimits } from '../accounts/limits/memory-plan.ts'
import { ThreadPool } from './thread-pool.ts'

const program = new URL('heavy-worker.ts', import.meta.url)
const startTask = { inspect: { val: 'null' } }

/** Threads for all that takes long. An entity has one of them at a time: others find the other one. */
export function openHeavyThreads(): ThreadPool {
  const { heavyThreads } = memoryPlan
  const { threads } = heavyThreads
  const resourceLimits = toResourceLimits(heavyThreads)
  return new ThreadPool({ program, threads, threadsOfEntity: 1, resourceLimits, startTask })
}

/** One of the same program for what is small, so that it waits behind nothing that takes long. */
export function openSmallThread(): ThreadPool {
  const { smallThreads } = memoryPlan
  const { threads } = smallThreads
  const resourceLimits = toResourceLimits(smallThreads)
  return new ThreadPool({ program, threads, threadsOfEntity: 1, resourceLimits, startTask })
}
