import { withTransaction, type Connection, type Pool } from '../pool.ts'
import { insertModel } from './insert.ts'
import type { NewModel } from './table.ts'

/**
 * A model that starts from a step of another model: from a copy of its checkpoint, or from step 0 if `copy` is null.
 */
export interface NewFork extends NewModel {
  forkedFromModel: string
  /** The copied checkpoint. Its files exist already. */
  copy: { id: string; uri: string } | null
}

/** `taken`: its name or id exists. `gone`: the source was deleted meanwhile. */
export type ForkOutcome = 'made' | 'taken' | 'gone'

/** Creates the model and its first checkpoint, with the same step number, in one transaction. */
export async function insertFork(pool: Pool, fork: NewFork): Promise<ForkOutcome> {
  return withTransaction(pool, async (connection) => {
    // The files of a source that is not deleted are not removed, so the copy is complete.
    if (!(await lockSource(connection, fork))) return 'gone'
    if (!(await insertModel(connection, fork))) return 'taken'
    if (fork.copy) await insertCopy(connection, fork, fork.copy)
    return 'made'
  })
}

async function lockSource(connection: Connection, fork: NewFork): Promise<boolean> {
  const model = await connection.query('SELECT FROM training.models WHERE id = $1 AND deleted_at IS NULL FOR SHARE', [
    fork.forkedFromModel,
  ])
  if (model.rowCount === 0 || fork.forkedFromCheckpoint === null) return model.rowCount === 1
  const checkpoint = await connection.query(
    'SELECT FROM training.checkpoints WHERE id = $1 AND deleted_at IS NULL FOR SHARE',
    [fork.forkedFromCheckpoint],
  )
  return checkpoint.rowCount === 1
}

async function insertCopy(connection: Connection, fork: NewFork, copy: { id: string; uri: string }) {
  await connection.query(
    `INSERT INTO training.checkpoints (id, model_id, step, uri, digest, metrics, bytes, forked_from)
     SELECT $1, $2, step, $3, digest, metrics, bytes, id FROM training.checkpoints WHERE id = $4`,
    [copy.id, fork.id, copy.uri, fork.forkedFromCheckpoint],
  )
}
