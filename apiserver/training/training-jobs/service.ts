import type { JobPhase } from '../../../crds/job-states.ts'
import { listLoads } from '../../../db/engines/loaded-adapters.ts'
import { HttpError, notFound, unprocessable, valueError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import { cancelUntrainedJob } from '../../../db/jobs/endings.ts'
import { findHolders } from '../../../db/jobs/holders.ts'
import type { QueueDeps } from '../../../db/jobs/queue-blocks.ts'
import { mayHaveStep } from '../../../db/jobs/reference-steps.ts'
import { findJob, findJobArrival, countJobs, listJobs, type JobView } from '../../../db/jobs/views.ts'
import { insertTrajectories } from '../../../db/trajectories/trajectories.ts'
import type { Pool } from '../../../db/pool.ts'
import { isUuid } from '../../../lib/http/validation/compile.ts'
import { parseTime } from '../../../lib/http/validation/time.ts'
import { countTotal, resolveCursor } from '../../../lib/http/page.ts'
import type { Caller } from '../../accounts/context.ts'
import { requireFreeJobSlot } from '../../accounts/limits/service.ts'
import { requireModelId } from '../../accounts/model-references.ts'
import type { ReceivedBody } from '../ingest/receive.ts'
import { storeBody, type PayloadDeps } from '../ingest/store-body.ts'
import { getModel } from '../models/service.ts'
import { admitJob, type AdmissionDeps } from './admit.ts'
import { rejectMisplacedSettings } from '../settings/misplaced-settings.ts'
import { extractRlFields } from '../settings/request.ts'
import { hasPenalty, requirePossibleConfig, type RlConfig } from '../settings/rl-config.ts'
import type { JobListQuery } from './schema.ts'
import { findStart } from './find-start.ts'
import { describeWaiting } from './waiting.ts'

/** What creating RL jobs needs. */
export interface RlJobDeps extends AdmissionDeps, PayloadDeps, QueueDeps {}

/**
 * Creates an RL job that trains on a body. The body is stored unchanged, and each of its trajectories is listed from
 * then on.
 *
 * @throws {HttpError} 404 for a model that is not the caller's, 422 for settings outside of experimental_config,
 * settings that contradict each other, or a reference that does not exist
 */
export async function createRlJob(
  deps: RlJobDeps,
  request: { caller: Caller; newId: () => string },
  body: ReceivedBody<'job'>,
): Promise<{ id: string }> {
  const { caller } = request
  const { model_id, experimental_config } = body.members
  const model = await getModel(deps.pool, caller.entity, model_id)
  rejectMisplacedSettings(body.members, 'RL', 'config')
  requirePossibleConfig(experimental_config)
  await requireReferenceStep(deps.pool, model.id, experimental_config)
  await requireFreeJobSlot(deps.pool, caller)
  const id = request.newId()
  const job = { ...extractRlFields(body.members), id, caller, model, inputBytes: body.size }
  await storeBody(deps, { entity: caller.entity, body }, ({ uri, digest }) =>
    admitJob(deps, { ...job, inputUri: uri, inputDigest: digest }, (connection) =>
      insertTrajectories(
        connection,
        { modelId: model.id, jobId: id, split: 'train', payloadUri: uri },
        body.rowBatches,
      ),
    ),
  )
  return { id }
}

/**
 * Accepts a step that an earlier job of the model may still make. If the step is not made, or is deleted before the job
 * starts, the job fails.
 *
 * @throws {HttpError} 422 for a reference that the model does not have and cannot get in time
 */
async function requireReferenceStep(pool: Pool, modelId: string, config: RlConfig | null | undefined): Promise<void> {
  const step = config?.kl_penalty_reference_step
  if (step == null || !hasPenalty(config) || (await mayHaveStep(pool, modelId, step))) return
  const reason = `the model has no step ${step}`
  const loc = ['body', 'experimental_config', 'kl_penalty_reference_step']
  throw unprocessable(valueError(loc, reason))
}

/** Finds a job of an entity's models. */
export async function getTrainingJob(deps: QueueDeps, entity: string, id: string): Promise<JobView> {
  const job = isUuid(id) ? await findJob(deps, entity, id) : undefined
  if (!job) throw notFound('Training job', id)
  return job
}

const waitingStates = new Set<JobPhase>(['Pending', 'Queued', 'Suspending', 'Suspended'])

/** Finds a job of an entity's models, why it waits and until when, and which engines have its checkpoint. @throws {HttpError} 404 */
export async function getJobDetail(deps: QueueDeps, entity: string, id: string) {
  const { pool } = deps
  const job = await getTrainingJob(deps, entity, id)
  const waiting = waitingStates.has(job.state) ? describeWaiting(job, await findHolders(pool, job.id)) : null
  return {
    job,
    waiting,
    startsAt: waiting && (await findStart(deps, job, waiting)),
    loads: job.checkpoint ? await listLoads(pool, job.checkpoint.id) : [],
  }
}

/** Lists one job more than the limit, which shows whether more follow. */
export async function listTrainingJobs(
  deps: QueueDeps,
  entity: string,
  query: JobListQuery,
): Promise<{ rows: JobView[]; total: number | undefined }> {
  const { pool } = deps
  const filter = {
    entity,
    modelId: query.model_id === undefined ? undefined : await requireModelId(pool, entity, query.model_id),
    project: query.project,
    method: query.method,
    states: query.state,
    createdAfter: query.created_after === undefined ? undefined : parseTime(query.created_after),
    createdBefore: query.created_before === undefined ? undefined : parseTime(query.created_before),
  }
  const after = await resolveCursor(query.after, (id) => findJobArrival(pool, filter, id))
  const rows = await listJobs(deps, filter, { after, order: query.order, limit: query.limit + 1 })
  return { rows, total: await countTotal(query.max_total, (max) => countJobs(pool, filter, max)) }
}

/** Cancels a job that is not trained yet. A job that is already cancelled is a success. */
export async function cancelTrainingJob(deps: QueueDeps, entity: string, id: string): Promise<JobView> {
  const job = await getTrainingJob(deps, entity, id)
  const { ended, state } = await cancelUntrainedJob(deps.pool, job.id)
  if (!ended && state !== 'Cancelled') throw new HttpError(errors.conflict, explainNotCancelled(state))
  return getTrainingJob(deps, entity, id)
}

function explainNotCancelled(state: string): string {
  if (state === 'Publishing') return 'This job has finished training. Its checkpoint is listed and is being published.'
  return `This job has already ended with the state ${state}.`
}
