import type { Pool } from '../pool.ts'

/** Records why no trainer of a base model can begin; null if one runs, or if they only need time. */
export async function recordTrainerTrouble(
  pool: Pool,
  { namespace, crName }: { namespace: string; crName: string },
  reason: string | null,
): Promise<void> {
  await pool.query(
    `UPDATE training.base_models SET trainer_trouble = $3
     WHERE namespace = $1 AND cr_name = $2 AND trainer_trouble IS DISTINCT FROM $3`,
    [namespace, crName, reason],
  )
}
