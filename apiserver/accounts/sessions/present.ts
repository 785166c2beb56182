import type { Caller } from '../context.ts'

interface Times {
  createdAt: Date | null
  expiresAt: Date | null
}

/** Who sends a request, and until when. */
export function presentSession({ entity, role, keyId, sessionId }: Caller, times: Times | undefined) {
  return {
    kind: sessionId === undefined ? ('key' as const) : ('session' as const),
    entity,
    role,
    key_id: keyId,
    created_at: times?.createdAt?.toISOString() ?? null,
    expires_at: times?.expiresAt?.toISOString() ?? null,
  }
}
