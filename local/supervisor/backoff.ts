import { backoffMs, type Backoff } from '../../lib/backoff.ts'

const backoff: Backoff = { baseMs: 250, maxMs: 5_000, jitter: 0 }
/** A program that ran this long is healthy. Its next restart has no delay. */
const healthyAfterMs = 10_000

/** The delay before the next start. The argument is the duration of the last runs, newest last. */
export function restartDelayMs(runsMs: readonly number[]): number {
  const lastHealthy = runsMs.findLastIndex((ms) => ms >= healthyAfterMs)
  const failures = runsMs.length - 1 - lastHealthy
  return backoffMs(Math.max(1, failures), backoff)
}
