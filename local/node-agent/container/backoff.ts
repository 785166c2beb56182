import { backoffMs, type Backoff } from '../../../lib/backoff.ts'

// A kubelet waits 10 s, doubling to 300 s, or 1 s doubling to 60 s with its ReduceDefaultCrashLoopBackOffDecay. The
// second is used here: after three kills in a row, a program is back within seconds.
const crashBackoff: Backoff = { baseMs: 1000, maxMs: 60_000, jitter: 0 }
// As in a kubelet, a run of twice the longest delay is healthy and resets the count.
const healthyRunMs = 2 * crashBackoff.maxMs

/** Counts the crashes in a row, including the end of this run. */
export function countCrashes(before: number, ranMs: number): number {
  return ranMs >= healthyRunMs ? 1 : before + 1
}

/** The delay between a container's end and its next start. It is 0 after the first crash. */
export function crashDelayMs(crashes: number): number {
  return crashes <= 1 ? 0 : backoffMs(crashes - 1, crashBackoff)
}

/**
 * The delays before a failed step is repeated. They are short: the step only calls a kube-apiserver on the same
 * machine, and a pod that was killed during its start should return soon.
 */
export const retryBackoff: Backoff = { baseMs: 500, maxMs: 2000 }
