import { backoffMs, type Backoff } from '../../../lib/backoff.ts'

// A kubelet waits 10 s, doubling to 300 s, or, with its ReduceDefaultCrashLoopBackOffDecay, 1 s doubling to 60 s. The
// second is used: a person who kills a program here three times in a row still finds it back within seconds.
const crashBackoff: Backoff = { baseMs: 1000, maxMs: 60_000, jitter: 0 }
// As in a kubelet, a run of twice the longest delay counts as healthy and starts the count again.
const healthyRunMs = 2 * crashBackoff.maxMs

/** How many crashes in a row there were, this run's end included. */
export function countCrashes(before: number, ranMs: number): number {
  return ranMs >= healthyRunMs ? 1 : before + 1
}

/** How long after its end a container starts again; at once after the first crash. */
export function crashDelayMs(crashes: number): number {
  return crashes <= 1 ? 0 : backoffMs(crashes - 1, crashBackoff)
}

/**
 * The waits before a failed step is tried again. They are short, because all it asks is a kube-apiserver on the same
 * machine, and a pod that is killed while that starts should be back soon after.
 */
export const retryBackoff: Backoff = { baseMs: 500, maxMs: 2000 }
