import { withTransaction, type Connection, type Pool } from '../pool.ts'
import { insertModel } from './insert.ts'
import type { NewModel } from './table.ts'

/** A model that starts from another's step: from a copy of its checkpoint, or from step 0 where that is null. */
export interface NewFork extends NewModel {
  forkedFromModel: string
  /** The copy, whose files are there already. */
  copy: { id: string; uri: string } | null
}

/** What became of a fork: made, its name or id taken, or its source deleted meanwhile. */
export type ForkOutcome = 'made' | 'taken' | 'gone'

/** Makes the model and its first checkpoint, of the same number, at once. */
export async function insertFork(pool: Pool, fork: NewFork): Promise<ForkOutcome> {
  return withTransaction(pool, async (connection) => {
    // As long as the source is not deleted, nobody has removed its files: what was copied from them is whole.
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
