import type { TrainedOn } from '../../crds/trained-on.ts'
import type { Connection, Pool } from '../pool.ts'

/** What the models of a name are trained on, and what a BaseModel of that name has. */
interface SourceClaim {
  /** The canonical name. */
  name: string
  trainedOn: TrainedOn
  /** The administrator says that the weights are the same. */
  replaces: boolean
}

/** The models that were trained on something else. */
export interface SourceConflict {
  models: number
  trainedOn: TrainedOn
}

/**
 * Records what the models of a base model are trained on. If there are models that were trained on something else,
 * returns them and changes nothing.
 */
export async function recordSource(
  connection: Connection,
  { name, trainedOn, replaces }: SourceClaim,
): Promise<SourceConflict | undefined> {
  const known = await findTrainedOn(connection, name)
  const models = known && !replaces ? await countModels(connection, name) : 0
  const { rowCount } = await connection.query(
    `INSERT INTO training.base_model_sources AS s (name, trained_on) VALUES ($1, $2)
     ON CONFLICT (name) DO UPDATE SET trained_on = $2,
       untrained_layers = CASE WHEN s.trained_on = $2 THEN s.untrained_layers END,
       untrained_adapter = CASE WHEN s.trained_on = $2 THEN s.untrained_adapter END
     WHERE $3 OR s.trained_on = $2`,
    [name, trainedOn, models === 0],
  )
  return known && rowCount === 0 ? { models, trainedOn: known } : undefined
}

/** What the models of a base model were trained on, by its canonical name; undefined if it never existed. */
export async function findTrainedOn(connection: Connection | Pool, name: string): Promise<TrainedOn | undefined> {
  const { rows } = await connection.query<{ trainedOn: TrainedOn }>(
    'SELECT trained_on AS "trainedOn" FROM training.base_model_sources WHERE name = $1',
    [name],
  )
  return rows[0]?.trainedOn
}

/** A hidden model comes back when its resource is applied again. */
async function countModels(connection: Connection, name: string): Promise<number> {
  const { rows } = await connection.query<{ count: number }>(
    'SELECT count(*) AS count FROM training.models WHERE base_model = $1 AND deleted_at IS NULL',
    [name],
  )
  return rows[0]?.count ?? 0
}
