/** How long to wait after failures, of which each makes the wait twice as long. */
export interface Backoff {
  /** the wait after the first failure */
  baseMs: number
  /** the longest wait */
  maxMs: number
  /** the share of a wait that chance may take away, so that many clients do not come back together; a half if not given */
  jitter?: number
}

/** The wait after so many failures in a row. */
export function backoffMs(failures: number, { baseMs, maxMs, jitter = 0.5 }: Backoff, random = Math.random): number {
  return Math.min(baseMs * 2 ** (failures - 1), maxMs) * (1 - jitter * random())
}
