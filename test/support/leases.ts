import type { Lease } from '../../lib/leased-cache.ts'

/** The lease of a process that nobody tells what changes. */
export const noLease: Lease = { isValid: () => false, renew: () => Promise.resolve(false) }

/** The lease of a process that gets all notifications. */
export const permanentLease: Lease = { isValid: () => true, renew: () => Promise.resolve(true) }
