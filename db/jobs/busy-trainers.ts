import { withTransaction, type Pool } from '../pool.ts'
import { held } from './states.ts'

/** Lists the uids of pods that train jobs now. Their trainers must not be replaced. */
export async function listBusyPods(pool: Pool): Promise<Set<string>> {
  const { rows } = await pool.query<{ uid: string }>(
    `SELECT DISTINCT holder_pod AS uid FROM training.jobs
     WHERE state ${held} AND holder_pod IS NOT NULL`,
  )
  return new Set(rows.map((row) => row.uid))
}

/**
 * Records which trainer pods of a base model get no more jobs. All its other pods get jobs. Afterwards, no pod of the first
 * kind claims a job that it does not hold yet.
 */
export async function markDraining(
  pool: Pool,
  baseModel: { namespace: string; name: string },
  pods: string[],
): Promise<void> {
  const { namespace, name } = baseModel
  await withTransaction(pool, async (connection) => {
    await connection.query(
      'DELETE FROM training.draining_trainers WHERE namespace = $1 AND base_model = $2 AND pod <> ALL ($3)',
      [namespace, name, pods],
    )
    // A claim that began before is over. A later one of these pods gets nothing.
    await connection.query(
      `SELECT pg_advisory_xact_lock(hashtextextended(pod, 0)) FROM unnest($1::text[]) AS given (pod)
       WHERE NOT EXISTS (SELECT FROM training.draining_trainers d WHERE d.pod::text = given.pod) ORDER BY pod`,
      [pods],
    )
    await connection.query(
      `INSERT INTO training.draining_trainers (pod, namespace, base_model)
       SELECT pod, $1, $2 FROM unnest($3::uuid[]) AS draining (pod) ON CONFLICT DO NOTHING`,
      [namespace, name, pods],
    )
  })
}
