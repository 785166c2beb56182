import type { Role } from '../accounts/context.ts'
import type { SystemReport } from './system-check.ts'

/** The report for a key of this role. */
export function presentReport({ ok, checkedAt, parts }: SystemReport, role: Role) {
  const shown = Object.entries(parts).map(([part, { forAdmins, ...rest }]) => [
    part,
    role === 'admin' ? { ...rest, ...forAdmins } : rest,
  ])
  return { ok, checked_at: checkedAt.toISOString(), parts: Object.fromEntries(shown) as Record<string, object> }
}
