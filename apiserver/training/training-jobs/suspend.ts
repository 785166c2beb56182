import type { QueueDeps } from '../../../db/jobs/queue-blocks.ts'
import { askToSuspend } from '../../../db/jobs/suspension.ts'
import type { JobView } from '../../../db/jobs/views.ts'
import { HttpError, unprocessable, valueError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import { getTrainingJob } from './service.ts'

/**
 * Suspends or resumes a job. The operator writes that into its resource, which says what is wanted, and does it.
 *
 * @throws {HttpError} 404, 422 for a job with the mode Warm, 409 for one that is trained or has ended
 */
export async function suspendTrainingJob(
  deps: QueueDeps,
  entity: string,
  { id, suspend }: { id: string; suspend: boolean },
): Promise<JobView> {
  const job = await getTrainingJob(deps, entity, id)
  if (job.mode === 'Warm') throw rejectWarm()
  if (!(await askToSuspend(deps.pool, job.id, suspend))) {
    const { state } = await getTrainingJob(deps, entity, id)
    throw new HttpError(errors.conflict, `This job has the state ${state}: it can no longer be suspended or resumed.`)
  }
  return getTrainingJob(deps, entity, id)
}

function rejectWarm(): HttpError {
  const reason =
    'only a job with the mode Dedicated can be suspended or resumed: one with the mode Warm shares its trainer with ' +
    'other jobs, and can be cancelled'
  return unprocessable(valueError(['path', 'training_job_id'], reason))
}
