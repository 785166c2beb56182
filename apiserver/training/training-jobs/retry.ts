import { InputError } from '../../../artifacts/inputs/address.ts'
import { whileHoldingInput } from '../../../artifacts/inputs/hold.ts'
import { isTerminal } from '../../../crds/job-states.ts'
import { readNewJob } from '../../../db/jobs/insert.ts'
import { mayHaveStep } from '../../../db/jobs/reference-steps.ts'
import type { JobView } from '../../../db/jobs/views.ts'
import type { Pool } from '../../../db/pool.ts'
import { repeatTrajectories } from '../../../db/trajectories/trajectories.ts'
import { HttpError } from '../../../lib/http/http-error.ts'
import type { Caller } from '../../accounts/context.ts'
import { requireFreeJobSlot } from '../../accounts/limits/service.ts'
import { errors } from '../../errors/table.ts'
import { getModel } from '../models/service.ts'
import { hasPenalty } from '../settings/rl-config.ts'
import { admitJob } from './admit.ts'
import { getTrainingJob, type RlJobDeps } from './service.ts'

/**
 * Creates a job with the data and the settings of one that has ended. Like every job, it begins from the newest
 * checkpoint of its model. The data are held until the new row refers to them.
 *
 * @throws {HttpError} 404, 409 for a job that has not ended, or whose data or reference step are gone, 429
 */
export async function retryTrainingJob(
  deps: RlJobDeps,
  { caller, newId }: { caller: Caller; newId: () => string },
  id: string,
): Promise<JobView> {
  const ended = await getTrainingJob(deps, caller.entity, id)
  if (!isTerminal(ended.state)) throw new HttpError(errors.conflict, explainUnfinished(ended.state))
  const model = await getModel(deps.pool, caller.entity, ended.modelId)
  await requireKeptReference(deps.pool, ended)
  await requireFreeJobSlot(deps.pool, caller)
  const again = { ...(await readNewJob(deps.pool, ended.id)), id: newId(), retryOf: ended.id, suspend: false }
  await rejectGoneInput(() =>
    whileHoldingInput(deps, again.inputUri, () =>
      admitJob(deps, { ...again, caller, model }, (connection) => repeatTrajectories(connection, ended.id, again.id)),
    ),
  )
  return getTrainingJob(deps, caller.entity, again.id)
}

function explainUnfinished(state: string): string {
  return `This job has not ended: it has the state ${state}. Wait for its end, or cancel it, before you retry it.`
}

async function requireKeptReference(pool: Pool, { modelId, config }: JobView): Promise<void> {
  const step = Number(config['kl_penalty_reference_step'] ?? 0)
  if (!hasPenalty(config) || (await mayHaveStep(pool, modelId, step))) return
  const reason = `The model has no step ${step} any more, which the job names as kl_penalty_reference_step.`
  throw new HttpError(errors.conflict, `${reason} Send a new job with another one.`)
}

async function rejectGoneInput(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof InputError)) throw error
    const reason = 'The data of this job are no longer in the artifact store, so it cannot be retried.'
    throw new HttpError(errors.conflict, `${reason} Send them again with a new job.`)
  }
}
