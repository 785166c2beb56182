import { randomUUID } from 'node:crypto'
import { buildTrainedOn, buildTrainingJob } from '../../../crds/manifests.ts'
import { resourceName } from '../../../crds/names.ts'
import { specDigest } from '../../../crds/spec-digest.ts'
import { findEventSeq, listEvents, type EventRow } from '../../../db/queries/events.ts'
import {
  findTrainingJob,
  insertTrainingJob,
  markTrainingJobResourceMade,
  type NewTrainingJob,
  type TrainingJobRow,
} from '../../../db/queries/training-jobs.ts'
import { putPayload } from '../../../lib/artifact-store/payloads.ts'
import type { StoredArtifact } from '../../../lib/artifact-store/store.ts'
import type { Deps } from '../../deps.ts'
import type { Caller } from '../../middleware/context.ts'
import { notFound, unavailable } from '../../refusal.ts'
import { isUuid } from '../../validation/compile.ts'
import { resolveCursor, type PageQuery } from '../list.ts'
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

/** A job of one of the entity's models. */
export async function getTrainingJob(deps: Deps, entity: string, id: string): Promise<TrainingJobRow> {
  const job = isUuid(id) ? await findTrainingJob(deps.pool, entity, id) : undefined
  if (!job) throw notFound('Training job')
  return job
}

/** One event more than the page holds, so that it shows whether there are more. */
export async function listJobEvents(
  deps: Deps,
  entity: string,
  jobId: string,
  { after, limit }: PageQuery,
): Promise<EventRow[]> {
  const { id } = await getTrainingJob(deps, entity, jobId)
  const seq = await resolveCursor(after, (cursor) => findEventSeq(deps.pool, id, cursor))
  return listEvents(deps.pool, id, { after: seq, limit: limit + 1 })
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
