import { formatDuration } from './time.ts'

/** The times of a key, as the API has them. */
interface KeyTimes {
  revoked_at: string | null
  expires_at: string | null
  replaced_by: string | null
}

/** Whether a key works, and how long. */
export function describeKeyState(
  { revoked_at: revoked, expires_at: expires, replaced_by: next }: KeyTimes,
  now: number,
): string {
  if (revoked !== null) return 'revoked'
  const state = next === null ? 'works' : 'replaced'
  if (expires === null) return state
  const leftMs = Date.parse(expires) - now
  return leftMs <= 0 ? 'expired' : `${state}, ends in ${formatDuration(leftMs)}`
}
