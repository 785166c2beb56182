const firstMs = 250
const longestMs = 5_000
/** A program that ran for this long is taken to have worked: its next restart is prompt again. */
const healthyAfterMs = 10_000

/** How long to wait before the next start, given how long each of the last runs took (newest last). */
export function restartDelayMs(runsMs: readonly number[]): number {
  const lastHealthy = runsMs.findLastIndex((ms) => ms >= healthyAfterMs)
  const failures = runsMs.length - 1 - lastHealthy
  return Math.min(longestMs, firstMs * 2 ** Math.max(0, failures - 1))
}
