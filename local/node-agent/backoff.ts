// A kubelet waits 10 s, doubling to 300 s, or, with its ReduceDefaultCrashLoopBackOffDecay, 1 s doubling to 60 s. The
// second is taken: a person who kills a program here three times in a row still finds it back within seconds.
const firstCrashDelayMs = 1000
const longestCrashDelayMs = 60_000
// As in a kubelet, a run of twice the longest delay counts as healthy and starts the count again.
const healthyRunMs = 2 * longestCrashDelayMs

/** How many crashes in a row there were, this run's end included. */
export function countCrashes(before: number, ranMs: number): number {
  return ranMs >= healthyRunMs ? 1 : before + 1
}

/** How long after its end a container starts again; at once after the first crash. */
export function crashDelayMs(crashes: number): number {
  if (crashes <= 1) return 0
  return Math.min(firstCrashDelayMs * 2 ** (crashes - 2), longestCrashDelayMs)
}

/**
 * The wait before a failed step is tried again: a quarter of a second, doubling to 2 s. No longer, because all it asks
 * is a kube-apiserver on the same machine, and a pod that is killed while that starts should be back soon after.
 */
export function retryDelayMs(failures: number): number {
  return Math.min(250 * 2 ** Math.min(failures, 10), 2000)
}

/** The same wait, up to a fifth longer or shorter, so that many waiters do not come back together. */
export function jitter(delayMs: number): number {
  return delayMs * (0.8 + 0.4 * Math.random())
}
