/** Points of an entity that this process may spend without asking. */
export interface Allowance {
  perMinute: number
  /** Less than none: so many are owed. */
  left: number
  /** What the database had beside them, when it was asked last. */
  elsewhere: number
  untilMs: number
  /** The database had none: it is not asked again before. */
  rejectedUntilMs: number
}

// What two answers of the database about one minute differ by at most.
const sameMinuteMs = 1_000

export const emptyAllowance: Allowance = { perMinute: 0, left: 0, elsewhere: 0, untilMs: 0, rejectedUntilMs: 0 }

/** Whether there are so many points now. After another limit was set, that one counts. */
export function canTake(allowance: Allowance, { perMinute, points }: { perMinute: number; points: number }): boolean {
  return allowance.perMinute === perMinute && allowance.left >= points && allowance.untilMs > performance.now()
}

/** What was known, with what was taken just now. Points end with their minute, and what is owed does not. */
export function mergeAllowances(known: Allowance, taken: Allowance): Allowance {
  if (known.perMinute !== taken.perMinute) return taken
  const isSameMinute = Math.abs(known.untilMs - taken.untilMs) < sameMinuteMs
  return { ...taken, left: taken.left + (isSameMinute ? known.left : Math.min(0, known.left)) }
}
