import type { ApiKeyRow } from '../../../db/accounts/api-keys.ts'

/** A key as its entity's admins see it. */
export function presentKey(key: ApiKeyRow) {
  return {
    id: key.id,
    name: key.name,
    role: key.role,
    prefix: key.prefix,
    created_at: key.createdAt.toISOString(),
    expires_at: key.expiresAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    replaced_by: key.replacedBy,
    trace_project: key.traceProject,
  }
}
