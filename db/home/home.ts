import { unfinished } from '../jobs/states.ts'
import { withTransaction, type Connection, type Pool } from '../pool.ts'

/** Where the operator of an installation works. */
export interface Home {
  namespace: string
  /** The uid of the object in the namespace that has the installation's id. */
  uid: string
}

/** The home that the database knows. */
export interface KnownHome extends Home {
  /** Seconds since an operator last worked there. */
  idleSeconds: number
}

/** The home of this installation; undefined if no operator has worked yet. */
export async function findHome(pool: Pool): Promise<KnownHome | undefined> {
  const { rows } = await pool.query<KnownHome>(
    `SELECT home_namespace AS namespace, home_uid AS uid,
       extract(epoch FROM now() - home_seen_at)::float8 AS "idleSeconds"
     FROM training.installation WHERE home_uid IS NOT NULL`,
  )
  return rows[0]
}

/** Records the first home of this installation. Its resources are where its rows say. */
export async function recordHome(pool: Pool, { namespace, uid }: Home): Promise<void> {
  await pool.query(
    `UPDATE training.installation SET home_namespace = $1, home_uid = $2, home_seen_at = now() WHERE home_uid IS NULL`,
    [namespace, uid],
  )
}

/** Records that an operator works in a home. Returns false if the installation has another one now. */
export async function touchHome(pool: Pool, uid: string): Promise<boolean> {
  const { rowCount } = await pool.query('UPDATE training.installation SET home_seen_at = now() WHERE home_uid = $1', [
    uid,
  ])
  return rowCount === 1
}

/**
 * Moves the installation to a new home: another cluster, another namespace, or the same namespace made anew. The
 * resources of visible models and unfinished jobs are to be made again there. Base models are registered again by their
 * resources.
 */
export async function moveHome(pool: Pool, from: Home, to: Home): Promise<void> {
  await withTransaction(pool, async (connection) => {
    const { rowCount } = await connection.query(
      'UPDATE training.installation SET home_namespace = $2, home_uid = $3, home_seen_at = now() WHERE home_uid = $1',
      [from.uid, to.namespace, to.uid],
    )
    if (rowCount === 1) await moveRows(connection, to.namespace)
  })
}

async function moveRows(connection: Connection, namespace: string): Promise<void> {
  await connection.query('DELETE FROM training.base_models WHERE namespace <> $1', [namespace])
  // A finished job that is applied again in the new namespace trains nothing.
  const kept = { models: 'hidden_at IS NULL AND deleted_at IS NULL', jobs: `state ${unfinished}` }
  for (const [table, isKept] of Object.entries(kept)) {
    await connection.query(
      `UPDATE training.${table} SET namespace = $1,
         resource_created_at = CASE WHEN ${isKept} THEN NULL ELSE resource_created_at END
       WHERE namespace <> $1 OR ${isKept}`,
      [namespace],
    )
  }
}
