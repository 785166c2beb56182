import { WorkerPool } from '../../../lib/worker-threads/pool.ts'
import { memoryPlan, toResourceLimits } from './memory-plan.ts'

/** Threads for slow work. An entity uses one of them at a time, so that others find the other one free. */
export function openHeavyThreads(): WorkerPool {
  return openThreads(memoryPlan.heavyThreads)
}

/** One thread for small work, so that it does not wait behind slow work. */
export function openSmallThread(): WorkerPool {
  return openThreads(memoryPlan.smallThreads)
}

function openThreads(plan: { threads: number; heapMib: number; youngMib: number }): WorkerPool {
  return new WorkerPool({ threads: plan.threads, threadsPerKey: 1, resourceLimits: toResourceLimits(plan) })
}
