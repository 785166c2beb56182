import type { AuditRow } from '../../../db/accounts/audit-log.ts'

export function presentAct({ id, at, entity, actor, action, subject, details }: AuditRow) {
  return { id, at: at.toISOString(), entity, actor, action, subject, details }
}
