import type { JobPhase } from '../../crds/job-states.ts'
import type { Pool } from '../pool.ts'
import { phaseOf, unfinished } from './states.ts'

/** How many jobs of a base model are in a state. */
export interface JobCount {
  /** The name of its resource, or its canonical name if that is gone. */
  baseModel: string
  state: JobPhase
  count: number
}

/** Counts unfinished jobs by base model and state. A partial index has them all. */
export async function countUnfinishedJobs(pool: Pool): Promise<JobCount[]> {
  const { rows } = await pool.query<JobCount>(
    `SELECT coalesce(b.cr_name, m.base_model) AS "baseModel", ${phaseOf('j')} AS state, count(*) AS count
     FROM training.jobs j JOIN training.models m ON m.id = j.model_id
     LEFT JOIN training.base_models b ON b.name = m.base_model
     WHERE j.state ${unfinished} GROUP BY 1, 2`,
  )
  return rows
}
