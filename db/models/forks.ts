import { withTransaction, type Connection, type Pool } from '../pool.ts'
import type { NewModel } from './models.ts'

/** A model that starts from another's step: from a copy of its checkpoint, or from step 0 where that is null. */
export interface NewFork extends NewModel {
  from: { modelId: string; step: number; checkpointId: string | null }
  /** The copy, whose files are there already. */
  copy: { id: string; uri: string } | null
}

/** What became of a fork: made, its name or id taken, or its source deleted meanwhile. */
export type ForkOutcome = 'made' | 'taken' | 'gone'

/** Makes the model and its first checkpoint, of the same number, at once. */
export async function insertFork(pool: Pool, fork: NewFork): Promise<ForkOutcome> {
  return withTransaction(pool, async (connection) => {
    // As long as the source is not deleted, nobody has removed its files: what was copied from them is whole.
    if (!(await holdSource(connection, fork))) return 'gone'
    const { rowCount } = await connection.query(
      `INSERT INTO training.models (id, entity, project, name, base_model, namespace, cr_name, key_id, retention,
         last_step, forked_from, forked_from_model, forked_from_step)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $10) ON CONFLICT DO NOTHING`,
      [
        fork.id,
        fork.entity,
        fork.project,
        fork.name,
        fork.baseModel,
        fork.namespace,
        fork.crName,
        fork.keyId,
        fork.retention && JSON.stringify(fork.retention),
        fork.from.step,
        fork.from.checkpointId,
        fork.from.modelId,
      ],
    )
    if (rowCount === 0) return 'taken'
    if (fork.copy) await insertCopy(connection, fork, fork.copy)
    return 'made'
  })
}

async function holdSource(connection: Connection, { from }: NewFork): Promise<boolean> {
  const model = await connection.query('SELECT FROM training.models WHERE id = $1 AND deleted_at IS NULL FOR SHARE', [
    from.modelId,
  ])
  if (model.rowCount === 0 || from.checkpointId === null) return model.rowCount === 1
  const checkpoint = await connection.query(
    'SELECT FROM training.checkpoints WHERE id = $1 AND deleted_at IS NULL FOR SHARE',
    [from.checkpointId],
  )
  return checkpoint.rowCount === 1
}

async function insertCopy(connection: Connection, { id, from }: NewFork, copy: { id: string; uri: string }) {
  await connection.query(
    `INSERT INTO training.checkpoints (id, model_id, step, uri, digest, metrics, bytes, forked_from)
     SELECT $1, $2, step, $3, digest, metrics, bytes, id FROM training.checkpoints WHERE id = $4`,
    [copy.id, id, copy.uri, from.checkpointId],
  )
}
