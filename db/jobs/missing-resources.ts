import { pickColumns, selectColumns, type RowOf } from '../columns.ts'
import type { LabelledModel } from '../../crds/model-labels.ts'
import type { Pool } from '../pool.ts'
import { unfinished } from './states.ts'
import { jobColumns, jobSpecColumns } from './table.ts'

const columns = {
  ...jobSpecColumns,
  ...pickColumns(jobColumns, 'id', 'namespace', 'crName', 'keyId', 'maxAttempts', 'retryOf'),
}

/** A job with everything that its resource is built from. */
export interface JobWithoutResource extends RowOf<typeof columns> {
  modelCrName: string
  /** What the labels of its resource say. Without a base model, the operator adds its label later. */
  model: LabelledModel
}

// The apiserver creates the resource of a new job at once, if it can.
const createdWithin = "interval '3 seconds'"

/** Lists a namespace's unfinished jobs whose resource is not known to have been created, in order of arrival. */
export async function listJobsWithoutResource(pool: Pool, namespace: string): Promise<JobWithoutResource[]> {
  const { rows } = await pool.query<JobWithoutResource>(
    `SELECT ${selectColumns(columns, 'j')}, m.cr_name AS "modelCrName",
       jsonb_strip_nulls(jsonb_build_object('entity', m.entity, 'project', m.project, 'name', m.name,
         'baseModelCrName', b.cr_name)) AS model
     FROM training.jobs j JOIN training.models m ON m.id = j.model_id
     LEFT JOIN training.base_models b ON b.name = m.base_model
     WHERE j.resource_created_at IS NULL AND j.namespace = $1 AND j.state ${unfinished}
       AND j.created_at < clock_timestamp() - ${createdWithin} ORDER BY j.arrival LIMIT 100`,
    [namespace],
  )
  return rows
}

/** Records that the resource of a job was created. */
export async function markJobResourceCreated(pool: Pool, id: string): Promise<void> {
  await pool.query(
    'UPDATE training.jobs SET resource_created_at = now() WHERE id = $1 AND resource_created_at IS NULL',
    [id],
  )
}
