import type { Connection, Pool } from '../pool.ts'

export const auditActions = [
  'key.made',
  'key.rotated',
  'key.revoked',
  'limits.set',
  'token_statistics.set',
  'trace_project.set',
  'trace_retention.set',
  'jobs.paused',
  'jobs.resumed',
  'erasure.requested',
  'webhook.made',
  'webhook.secret_rotated',
  'webhook.deleted',
] as const

export type AuditAction = (typeof auditActions)[number]

/** The actor of the administrator's commands, which have no key. */
export const commandActor = 'command'

/** An action that needs the rights of an admin. */
export interface Act {
  entity: string
  /** The id of the caller's key, or `commandActor`. */
  actor: string
  action: AuditAction
  /** What was changed; null for the entity itself. */
  subject: string | null
  /** Only our own numbers and words: no secrets and no users' text. */
  details?: Record<string, unknown>
}

export interface AuditRow extends Required<Act> {
  id: string
  position: number
  at: Date
}

/** Selects a part of an entity's log. */
export interface AuditQuery {
  action: AuditAction | undefined
  from: Date | undefined
  to: Date | undefined
  /** The page begins after this position. */
  after: number | undefined
  order: 'asc' | 'desc'
  limit: number
}

/**
 * Writes an act into the log. Call it last in the transaction of the act, and before a write to another database. An
 * entity's acts are committed in the order of their positions, so a reader that continues after the newest misses none.
 */
export async function recordAct(connection: Connection, act: Act): Promise<void> {
  await connection.query("SELECT pg_advisory_xact_lock(hashtext('trainyard audit log'), hashtext($1))", [act.entity])
  await connection.query(
    'INSERT INTO auth.audit_log (entity, actor, action, subject, details) VALUES ($1, $2, $3, $4, $5)',
    [act.entity, act.actor, act.action, act.subject, JSON.stringify(act.details ?? {})],
  )
}

/** The position of an act in its entity's log. */
export async function findActPosition(pool: Pool, entity: string, id: string): Promise<number | undefined> {
  const { rows } = await pool.query<{ position: number }>(
    'SELECT position FROM auth.audit_log WHERE entity = $1 AND id = $2',
    [entity, id],
  )
  return rows[0]?.position
}

/** Lists a page of an entity's log. */
export async function listActs(pool: Pool, entity: string, query: AuditQuery): Promise<AuditRow[]> {
  const [behind, direction] = query.order === 'asc' ? ['>', 'ASC'] : ['<', 'DESC']
  const { rows } = await pool.query<AuditRow>(
    `SELECT id, position, at, entity, actor, action, subject, details FROM auth.audit_log
     WHERE entity = $1 AND ($2::text IS NULL OR action = $2) AND ($3::timestamptz IS NULL OR at >= $3)
       AND ($4::timestamptz IS NULL OR at < $4) AND ($5::bigint IS NULL OR position ${behind} $5)
     ORDER BY position ${direction} LIMIT $6`,
    [entity, query.action ?? null, query.from ?? null, query.to ?? null, query.after ?? null, query.limit],
  )
  return rows
}
