import { randomUUID } from 'node:crypto'
import { buildTrainedOn, buildTrainingJob } from '../../../crds/manifests.ts'
import { resourceName } from '../../../crds/names.ts'
import { specDigest } from '../../../crds/spec-digest.ts'
import {
  insertTrainingJob,
  markTrainingJobResourceMade,
  type NewTrainingJob,
} from '../../../db/queries/training-jobs.ts'
import { putPayload } from '../../../lib/artifact-store/payloads.ts'
import type { StoredArtifact } from '../../../lib/artifact-store/store.ts'
import type { Deps } from '../../deps.ts'
import type { Caller } from '../../middleware/context.ts'
import { unavailable } from '../../refusal.ts'
import { getModel } from '../models/service.ts'
import type { TrainingJobRequest } from './request.ts'

/**
 * Takes a training job in. The payload is stored before the row that points at it, and the row is there before the
 * resource; what fails after the row is made good by the operator, so the id that is returned always holds.
 */
export async function createTrainingJob(deps: Deps, caller: Caller, request: TrainingJobRequest): Promise<string> {
  const model = await getModel(deps, caller.entity, request.modelId)
  const input = await storePayload(deps, caller.entity, request.payload)
  const id = randomUUID()
  const { uri: inputUri, digest: inputDigest } = input
  const trainedOn = { method: 'RL', inputUri, inputDigest, config: request.config } as const
  const modelCrName = model.crName
  const job: NewTrainingJob = {
    ...trainedOn,
    id,
    keyId: caller.keyId,
    modelId: model.id,
    specDigest: specDigest(buildTrainedOn({ ...trainedOn, modelCrName })),
    namespace: model.namespace,
    crName: resourceName(model.name, id),
  }
  await insertTrainingJob(deps.pool, job)
  await makeResource(deps, job, modelCrName)
  return id
}

async function storePayload({ artifacts, log }: Deps, entity: string, payload: Uint8Array): Promise<StoredArtifact> {
  try {
    return await putPayload(artifacts, entity, payload)
  } catch (error) {
    log.error({ error }, 'payload not stored')
    throw unavailable('The trajectories could not be stored: the artifact store takes no writes at the moment.', 10)
  }
}

async function makeResource({ kube, pool, log }: Deps, job: NewTrainingJob, modelCrName: string): Promise<void> {
  try {
    await kube.createResource('TrainingJob', buildTrainingJob({ ...job, modelCrName }))
    await markTrainingJobResourceMade(pool, job.id)
  } catch (error) {
    log.warn({ error, jobId: job.id }, 'training job resource not made, left to the operator')
  }
}
