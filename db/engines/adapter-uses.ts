import type { Pool } from '../pool.ts'

/** A step of a model that clients have asked. Null is step 0, the base model. */
export interface AdapterUse {
  modelId: string
  checkpointId: string | null
}

/** Records that steps are asked now. A model that is gone meanwhile is left out. */
export async function recordAdapterUses(pool: Pool, uses: AdapterUse[]): Promise<void> {
  await pool.query(
    `INSERT INTO training.adapter_uses AS known (model_id, checkpoint_id, asked_at)
     SELECT m.id, r."checkpointId", now()
     FROM jsonb_to_recordset($1) AS r ("modelId" uuid, "checkpointId" uuid)
     JOIN training.models m ON m.id = r."modelId"
     ORDER BY m.id, r."checkpointId"
     ON CONFLICT (model_id, coalesce(checkpoint_id, model_id))
     DO UPDATE SET asked_at = excluded.asked_at WHERE known.asked_at < excluded.asked_at`,
    [JSON.stringify(uses)],
  )
}

/** Removes what nobody needs: a model counts as in use for a shorter time. */
export async function expireAdapterUses(pool: Pool): Promise<void> {
  await pool.query("DELETE FROM training.adapter_uses WHERE asked_at < now() - interval '1 hour'")
}
