import { HttpError, notFound } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import { cancelUntrainedJob } from '../../../db/jobs/endings.ts'
import { findJob, findJobArrival, listJobs, type JobView } from '../../../db/jobs/views.ts'
import type { Deps } from '../../deps.ts'
import { isUuid } from '../../../lib/http/validation/compile.ts'
import { parseTime } from '../../../lib/http/validation/time.ts'
import { resolveCursor } from '../../../lib/http/page.ts'
import type { JobListQuery } from './schema.ts'

/** A job of one of the entity's models. */
export async function getTrainingJob(deps: Deps, entity: string, id: string): Promise<JobView> {
  const job = isUuid(id) ? await findJob(deps.pool, entity, id) : undefined
  if (!job) throw notFound('Training job', id)
  return job
}

/** One job more than the page holds, so that it shows whether there are more. */
export async function listTrainingJobs(deps: Deps, entity: string, query: JobListQuery): Promise<JobView[]> {
  const filter = {
    entity,
    modelId: query.model_id,
    project: query.project,
    method: query.method,
    states: query.state,
    createdAfter: query.created_after === undefined ? undefined : parseTime(query.created_after),
    createdBefore: query.created_before === undefined ? undefined : parseTime(query.created_before),
  }
  const after = await resolveCursor(query.after, (id) => findJobArrival(deps.pool, filter, id))
  return listJobs(deps.pool, filter, { after, order: query.order, limit: query.limit + 1 })
}

/** Ends a job that is not trained yet. One that is cancelled already is as good. */
export async function cancelTrainingJob(deps: Deps, entity: string, id: string): Promise<JobView> {
  const job = await getTrainingJob(deps, entity, id)
  const { ended, state } = await cancelUntrainedJob(deps.pool, job.id)
  if (!ended && state !== 'Cancelled') throw new HttpError(errors.conflict, refuseToCancel(state))
  return getTrainingJob(deps, entity, id)
}

function refuseToCancel(state: string): string {
  if (state === 'Publishing') return 'This job has finished training. Its checkpoint is listed and is being published.'
  return `This job has already ended with the state ${state}.`
}
