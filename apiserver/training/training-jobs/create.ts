import type { Caller } from '../../accounts/context.ts'
import { insertTrajectories } from '../../../db/trajectories/trajectories.ts'
import { storeBody, type PayloadDeps } from '../ingest/store-body.ts'
import type { ReceivedBody } from '../ingest/receive.ts'
import { getModel } from '../models/service.ts'
import { admitJob, type AdmissionDeps } from './admit.ts'
import { requireReferenceStep } from './reference-step.ts'
import { requireFreeJobPlace } from '../../accounts/limits/service.ts'
import { requireRightPlace } from './right-place.ts'
import { rlSettings } from '../settings/generated.ts'
import { extractRlFields } from './request.ts'
import { requirePossibleConfig } from './rl-config.ts'

/** What RL jobs are made with. */
export interface RlJobDeps extends AdmissionDeps, PayloadDeps {}

/**
 * Takes an RL job in that trains on a body as it came: the store keeps it, and each of its trajectories is listed from
 * then on.
 *
 * @throws {HttpError} 404 for a model that is not the caller's, 422 for settings that stand elsewhere than in
 * experimental_config, contradict each other, or name a reference that is not there
 */
export async function createRlJob(
  deps: RlJobDeps,
  request: { caller: Caller; newId: () => string },
  body: ReceivedBody<'job'>,
): Promise<{ id: string }> {
  const { caller } = request
  const { model_id, experimental_config } = body.members
  const model = await getModel(deps.pool, caller.entity, model_id)
  requireRightPlace(body.members, { method: 'RL', settings: rlSettings, member: 'experimental_config' }, 'config')
  requirePossibleConfig(experimental_config)
  await requireReferenceStep(deps.pool, model.id, experimental_config)
  await requireFreeJobPlace(deps, caller.entity)
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
