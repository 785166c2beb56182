import { WorkerPool } from '../../../lib/worker-threads/pool.ts'
import { memoryPlan, toResourceLimits } from './memory-plan.ts'

/** Threads for all that takes long. An entity has one of them at a time: others find the other one. */
export function openHeavyThreads(): WorkerPool {
  return openThreads(memoryPlan.heavyThreads)
}

/** One thread for what is small, so that it waits behind nothing that takes long. */
export function openSmallThread(): WorkerPool {
  return openThreads(memoryPlan.smallThreads)
}

function openThreads(plan: { threads: number; heapMib: number; youngMib: number }): WorkerPool {
  return new WorkerPool({ threads: plan.threads, threadsPerKey: 1, resourceLimits: toResourceLimits(plan) })
}
