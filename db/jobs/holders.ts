import type { JobPhase } from '../../crds/job-states.ts'
import type { Pool } from '../pool.ts'
import { active, held, phaseOf, unfinished } from './states.ts'

/** What keeps a job that waits. */
export interface Holders {
  /** The first unfinished job of its model before it; the active one, if there is one. */
  ofModel: { id: string; state: JobPhase } | null
  /** How many jobs the trainers of its base model have. */
  training: number
  /** The oldest of them that is of the same entity. */
  own: { id: string; state: JobPhase } | null
  /** The reason why no trainer of its base model can begin; null if one can. */
  trainerTrouble: string | null
}

/** Finds what a waiting job waits for. Nothing of other entities is told but a number. */
export async function findHolders(pool: Pool, jobId: string): Promise<Holders> {
  const describe = (row: string) => `jsonb_build_object('id', ${row}.id, 'state', ${phaseOf(row)})`
  const { rows } = await pool.query<Holders>(
    `WITH own AS (
       SELECT j.id, j.entity, j.model_id, j.arrival, m.base_model
       FROM training.jobs j JOIN training.models m ON m.id = j.model_id WHERE j.id = $1
     ), busy AS (
       SELECT e.* FROM training.jobs e JOIN training.models n ON n.id = e.model_id
       WHERE e.state ${held} AND n.base_model = (SELECT base_model FROM own)
     )
     SELECT (SELECT ${describe('e')} FROM training.jobs e, own
             WHERE e.model_id = own.model_id AND e.state ${unfinished} AND (e.arrival < own.arrival OR e.state ${active})
             ORDER BY e.state ${active} DESC, e.arrival LIMIT 1) AS "ofModel",
       (SELECT count(*)::integer FROM busy) AS training,
       (SELECT ${describe('b')} FROM busy b, own WHERE b.entity = own.entity ORDER BY b.arrival LIMIT 1) AS own,
       (SELECT b.trainer_trouble FROM training.base_models b, own WHERE b.name = own.base_model) AS "trainerTrouble"`,
    [jobId],
  )
  return rows[0]!
}
