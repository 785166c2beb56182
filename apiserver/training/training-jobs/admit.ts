import { notFound, unprocessable, valueError } from '../../../lib/http/http-error.ts'
import { buildJobSpec, buildTrainingJob, type JobMode, type TrainingJobFacts } from '../../../crds/manifests.ts'
import { resourceName } from '../../../crds/names.ts'
import { specDigest } from '../../../crds/spec-digest.ts'
import { findBaseModel } from '../../../db/base-models/base-models.ts'
import type { ModelRow } from '../../../db/models/models.ts'
import { defaultMaxAttempts, describeRetries } from '../../../db/jobs/attempts.ts'
import { insertJob } from '../../../db/jobs/insert.ts'
import type { NewJob } from '../../../db/jobs/table.ts'
import { lockModel } from '../../../db/models/lock.ts'
import { withTransaction, type Connection, type Pool } from '../../../db/pool.ts'
import type { Kube } from '../../kube.ts'
import type { Logger } from '../../../lib/log.ts'
import { requireJobSlot } from '../../accounts/limits/service.ts'
import type { Caller } from '../../accounts/context.ts'
import type { RequestedFields } from '../settings/request.ts'

/** What admitting jobs needs. */
export interface AdmissionDeps {
  kube: Kube
  log: Logger
  pool: Pool
}

/** A checked job whose input is stored. */
export interface Admission extends RequestedFields, Pick<NewJob, 'id' | 'inputUri' | 'inputDigest' | 'inputBytes'> {
  caller: Caller
  model: ModelRow
  maxAttempts?: number
}

/**
 * Admits a job. The input is stored before the row that refers to it, and the row is written before the resource is
 * created. The operator repairs failures after the row is written, so an answered id is always valid. An id that was
 * admitted before (a request that is repeated after a crash) is not admitted twice.
 *
 * `alsoInsert` adds more rows in the same transaction.
 *
 * @throws {HttpError} 404 if the model was deleted meanwhile, 422 if queue and mode do not fit, 429 if the entity has as many unfinished jobs as it may
 */
export async function admitJob(
  deps: AdmissionDeps,
  admission: Admission,
  alsoInsert?: (connection: Connection) => Promise<void>,
): Promise<void> {
  const baseModel = await findBaseModel(deps.pool, admission.model.baseModel)
  const job = completeJob(admission, baseModel?.defaultMode ?? 'Warm')
  await withTransaction(deps.pool, async (connection) => {
    if (!(await lockModel(connection, job.modelId))) throw notFound('Model')
    if (!(await insertJob(connection, job))) return
    await alsoInsert?.(connection)
    // Last, because jobs of one entity wait here for each other.
    await requireJobSlot(connection, admission.caller)
  })
  await makeResource(deps, job, { ...admission.model, baseModelCrName: baseModel?.crName })
}

function completeJob(
  { caller, model, ...given }: Admission,
  defaultMode: JobMode,
): NewJob & Omit<TrainingJobFacts, 'model'> {
  const job = { ...given, mode: given.mode ?? defaultMode, modelCrName: model.crName }
  requireFittingMode(job)
  return {
    ...job,
    keyId: caller.keyId,
    modelId: model.id,
    maxAttempts: given.maxAttempts ?? defaultMaxAttempts,
    specDigest: specDigest(buildJobSpec(job)),
    namespace: model.namespace,
    crName: resourceName(model.name, job.id),
    resourceCreatedAt: null,
  }
}

/** @throws {HttpError} 422 for a queue of a job that has no pods of its own */
function requireFittingMode({ mode, queueName }: Pick<NewJob, 'mode' | 'queueName'>): void {
  if (queueName === null || mode === 'Dedicated') return
  throw unprocessable(valueError(['body', 'queue_name'], 'only a job with the mode Dedicated can wait in a queue'))
}

async function makeResource(
  { kube, log }: Pick<AdmissionDeps, 'kube' | 'log'>,
  job: NewJob & Omit<TrainingJobFacts, 'model'>,
  model: TrainingJobFacts['model'],
): Promise<void> {
  try {
    await kube.createResource('TrainingJob', buildTrainingJob({ ...job, ...describeRetries(job.maxAttempts), model }))
  } catch (error) {
    log.warn({ error, jobId: job.id }, 'training job resource not made, left to the operator')
  }
}
