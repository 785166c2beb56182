import { backoffMs, type Backoff } from '../../lib/backoff.ts'

const backoff: Backoff = { baseMs: 250, maxMs: 5_000, jitter: 0 }
/** A program that ran for this long is taken to have worked: its next restart is prompt again. */
const healthyAfterMs = 10_000

/** How long to wait before the next start, given how long each of the last runs took (newest last). */
export function restartDelayMs(runsMs: readonly number[]): number {
  const lastHealthy = runsMs.findLastIndex((ms) => ms >= healthyAfterMs)
  const failures = runsMs.length - 1 - lastHealthy
  return backoffMs(Math.max(1, failures), backoff)
}
