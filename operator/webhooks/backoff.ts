const firstMs = 1_000
// An endpoint that is back waits no longer than this for what it has missed.
const longestMs = 300_000

/** How long to wait after so many attempts that failed: twice as long each time, up to five minutes, less up to a half. */
export function backoffMs(failures: number, random: () => number = Math.random): number {
  return Math.min(firstMs * 2 ** Math.min(failures - 1, 20), longestMs) * (1 - random() / 2)
}
