import { backoffMs, type Backoff } from '../../lib/backoff.ts'

const backoff: Backoff = { baseMs: 250, maxMs: 5_000, jitter: 0 }
/** A program that ran this long counts as healthy. Its next restart is prompt again. */
const healthyAfterMs = 10_000

/** The delay before the next start. The argument has the duration of each of the last runs, the newest last. */
export function restartDelayMs(runsMs: readonly number[]): number {
  const lastHealthy = runsMs.findLastIndex((ms) => ms >= healthyAfterMs)
  const failures = runsMs.length - 1 - lastHealthy
  return backoffMs(Math.max(1, failures), backoff)
}
