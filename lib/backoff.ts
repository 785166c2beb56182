/** How long to wait after failures. Each failure doubles the wait. */
export interface Backoff {
  /** The wait after the first failure. */
  baseMs: number
  /** The longest wait. */
  maxMs: number
  /** The random share of a wait that is left out, so that many clients do not come back together. Default: a half. */
  jitter?: number
}

/** The wait after this many failures in a row. */
export function backoffMs(failures: number, { baseMs, maxMs, jitter = 0.5 }: Backoff, random = Math.random): number {
  return Math.min(baseMs * 2 ** (failures - 1), maxMs) * (1 - jitter * random())
}
