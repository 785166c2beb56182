import type { Pool } from '../pool.ts'

/** The rules that keep checkpoints. A checkpoint that no rule keeps is deleted. */
export interface Retention {
  keep_last?: number
  keep_best?: { metric: string; mode: 'max' | 'min'; count: number }
  ttl_seconds?: number
}

/** Sets the retention of a model's checkpoints; null keeps all. */
export async function setRetention(pool: Pool, modelId: string, retention: Retention | null): Promise<void> {
  await pool.query(
    `UPDATE training.models SET retention = $2, retention_applied_at = NULL WHERE id = $1 AND deleted_at IS NULL`,
    [modelId, retention && JSON.stringify(retention)],
  )
}

/** A model whose retention must be applied. */
export interface RetainedModel {
  id: string
  retention: Retention
  /** Before its checkpoints are listed. */
  checkedAt: Date
}

/** Lists models with a new retention, with a newer checkpoint, or not checked for `afterSeconds`, oldest first. */
export async function listRetentionDue(pool: Pool, afterSeconds: number): Promise<RetainedModel[]> {
  const { rows } = await pool.query<RetainedModel>(
    `SELECT m.id, m.retention, now() AS "checkedAt" FROM training.models m
     WHERE m.retention IS NOT NULL AND m.deleted_at IS NULL
       AND (m.retention_applied_at IS NULL OR m.retention_applied_at < now() - make_interval(secs => $1)
         OR EXISTS (SELECT FROM training.checkpoints c
                    WHERE c.model_id = m.id AND c.deleted_at IS NULL AND c.created_at > m.retention_applied_at))
     ORDER BY m.retention_applied_at NULLS FIRST LIMIT 100`,
    [afterSeconds],
  )
  return rows
}

/** A checkpoint with what the retention rules check. */
export interface RetainedCheckpoint {
  step: number
  metrics: Record<string, unknown>
  ageSeconds: number
}

/** Lists all checkpoints of a model, newest first. */
export async function listRetainedCheckpoints(pool: Pool, modelId: string): Promise<RetainedCheckpoint[]> {
  const { rows } = await pool.query<RetainedCheckpoint>(
    `SELECT step, metrics, extract(epoch FROM now() - created_at)::float8 AS "ageSeconds"
     FROM training.checkpoints WHERE model_id = $1 AND deleted_at IS NULL ORDER BY step DESC`,
    [modelId],
  )
  return rows
}

/** Records until when a model's retention was applied. Checkpoints that came after that are checked next time. */
export async function markRetentionApplied(pool: Pool, { id, retention, checkedAt }: RetainedModel): Promise<void> {
  await pool.query('UPDATE training.models SET retention_applied_at = $3 WHERE id = $1 AND retention = $2::jsonb', [
    id,
    JSON.stringify(retention),
    checkedAt,
  ])
}
