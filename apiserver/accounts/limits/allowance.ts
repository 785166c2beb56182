/** Points of an entity that this process may use without a query. */
export interface Allowance {
  perMinute: number
  /** A negative number is a debt. */
  left: number
  /** The points that were left in the database at the last query. */
  elsewhere: number
  untilMs: number
  /** The database had no points left. It is not queried again before this time. */
  rejectedUntilMs: number
}

// Two answers of the database about the same minute differ by at most this time.
const sameMinuteMs = 1_000

export const emptyAllowance: Allowance = { perMinute: 0, left: 0, elsewhere: 0, untilMs: 0, rejectedUntilMs: 0 }

/** Whether there are enough points now, under the same limit. */
export function canTake(allowance: Allowance, { perMinute, points }: { perMinute: number; points: number }): boolean {
  return allowance.perMinute === perMinute && allowance.left >= points && allowance.untilMs > performance.now()
}

/** Adds newly taken points to known ones. Points expire with their minute; debts do not. */
export function mergeAllowances(known: Allowance, taken: Allowance): Allowance {
  if (known.perMinute !== taken.perMinute) return taken
  const isSameMinute = Math.abs(known.untilMs - taken.untilMs) < sameMinuteMs
  return { ...taken, left: taken.left + (isSameMinute ? known.left : Math.min(0, known.left)) }
}
