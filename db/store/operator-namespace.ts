import { unfinished } from '../jobs/states.ts'
import { withTransaction, type Connection, type Pool } from '../pool.ts'

/** Where the operator of an installation works. */
export interface OperatorNamespace {
  namespace: string
  /** The uid of the object in the namespace that has the installation's id. */
  uid: string
}

/** The namespace that the database knows. */
export interface KnownNamespace extends OperatorNamespace {
  /** Seconds since an operator last worked there. */
  idleSeconds: number
}

/** The namespace of this installation; undefined if no operator has worked yet. */
export async function findOperatorNamespace(pool: Pool): Promise<KnownNamespace | undefined> {
  const { rows } = await pool.query<KnownNamespace>(
    `SELECT operator_namespace AS namespace, operator_namespace_uid AS uid,
       extract(epoch FROM now() - operator_seen_at)::float8 AS "idleSeconds"
     FROM training.installation WHERE operator_namespace_uid IS NOT NULL`,
  )
  return rows[0]
}

/** Records the first namespace of this installation. Its resources are where its rows say. */
export async function recordOperatorNamespace(pool: Pool, { namespace, uid }: OperatorNamespace): Promise<void> {
  await pool.query(
    `UPDATE training.installation SET operator_namespace = $1, operator_namespace_uid = $2, operator_seen_at = now() WHERE operator_namespace_uid IS NULL`,
    [namespace, uid],
  )
}

/** Records that an operator works in a namespace. Returns false if the installation has another one now. */
export async function touchOperatorNamespace(pool: Pool, uid: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    'UPDATE training.installation SET operator_seen_at = now() WHERE operator_namespace_uid = $1',
    [uid],
  )
  return rowCount === 1
}

/**
 * Moves the installation to a new namespace: in another cluster, in the same one, or of the same name and made anew. The
 * resources of visible models and unfinished jobs are to be made again there. Base models are registered again by their
 * resources.
 */
export async function moveInstallation(pool: Pool, from: OperatorNamespace, to: OperatorNamespace): Promise<void> {
  await withTransaction(pool, async (connection) => {
    const { rowCount } = await connection.query(
      'UPDATE training.installation SET operator_namespace = $2, operator_namespace_uid = $3, operator_seen_at = now() WHERE operator_namespace_uid = $1',
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
