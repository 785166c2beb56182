import { randomUUID } from 'node:crypto'
import type { TrainingJob } from '../../crds/generated.ts'
import { extractJobFacts } from '../../crds/manifests.ts'
import { labels, reasons } from '../../crds/names.ts'
import { specDigest } from '../../crds/spec-digest.ts'
import { cancelJob, failJob } from '../../db/jobs/endings.ts'
import { queueJob } from '../../db/jobs/enqueue.ts'
import { insertJob } from '../../db/jobs/insert.ts'
import {
  findReferencedJob,
  limitAttempts,
  listJobsOfResource,
  type JobReference,
  type OperatorJob,
} from '../../db/jobs/resources.ts'
import type { NewJob } from '../../db/jobs/table.ts'
import { findJobModel } from '../../db/models/resources.ts'
import type { Context } from '../context.ts'
import { deleteObject, patchStatus, readObject } from '../../lib/kube/apply.ts'
import { recordEvent } from '../../lib/kube/events.ts'
import { customPath } from '../../crds/paths.ts'
import type { Requeue } from '../../lib/kube/queue.ts'
import { isFinished, planJob, type JobFacts, type JobPlan } from './plan.ts'
import type { Publisher } from './publish.ts'
import { describeJob, describeWaiting, type JobStatus } from './status.ts'
import { diffJobEvents } from './job-events.ts'
import { measureTrainers, nameHolder } from './trainers.ts'

/** Who does what takes long, beside the reconcile. */
export interface JobWorkers {
  publisher: Publisher
  /** asks for the input of a job to be fetched; asking again changes nothing */
  fetchInput: (jobId: string) => void
}

type Rest = Extract<JobPlan, { do: 'rest' }>

/**
 * Brings one TrainingJob to its row in Postgres and writes how it stands. Trainers work from the row; what this adds is
 * that a job is known, allowed, and queued, ends when its resource goes, and never trains a second time.
 */
export async function reconcileTrainingJob(
  context: Context,
  { publisher, fetchInput }: JobWorkers,
  name: string,
): Promise<Requeue | void> {
  const resource = context.trainingJobs.get(name)
  if (!resource) return cancelDeleted(context, name)
  if (resource.metadata.deletionTimestamp !== undefined) return
  const first = await observe(context, resource)
  const { plan, facts } = await settleJob(context, resource, first)
  if (plan.do === 'delete') return deleteResource(context, resource)
  if (plan.fetchInputOf !== undefined) fetchInput(plan.fetchInputOf)
  const alreadyRan = await isReapplied(context, resource, first.job)
  const status = describe(context, publisher, facts, plan, alreadyRan)
  for (const event of diffJobEvents(resource.status, status)) await recordEvent(context.client, resource, event)
  await patchStatus(context.client, customPath('TrainingJob', context.namespace, name), resource, status)
  if (plan.lookAgainMs !== undefined) return { afterMs: Math.min(plan.lookAgainMs, maxWaitMs) }
}

// Node's timers take no more than 2^31 ms.
const maxWaitMs = 24 * 3600_000

/** Asks the server itself first: our copy may be older than the row. */
async function cancelDeleted({ client, pool, namespace, log }: Context, name: string): Promise<void> {
  const ids = await listJobsOfResource(pool, namespace, name)
  if (ids.length === 0 || (await readObject(client, customPath('TrainingJob', namespace, name)))) return
  for (const id of ids) {
    if (await cancelJob(pool, id)) log.info({ job: id }, 'job ended, because its resource was deleted')
  }
}

/** Takes the steps of the plan until there is nothing left to do. */
async function settleJob(
  context: Context,
  resource: TrainingJob,
  first: JobFacts,
): Promise<{ plan: Rest | { do: 'delete' }; facts: JobFacts }> {
  for (let facts = first; ; facts = await observe(context, resource)) {
    const plan = planJob(facts)
    if (plan.do === 'rest' || plan.do === 'delete') return { plan, facts }
    context.log.info({ trainingJob: resource.metadata.name, ...plan }, 'training job')
    await execute(context, resource, plan)
  }
}

async function observe({ pool, namespace, models }: Context, resource: TrainingJob): Promise<JobFacts> {
  const modelName = resource.spec.modelRef.name
  return {
    resource,
    modelExists: models.get(modelName) !== undefined,
    model: await findJobModel(pool, namespace, modelName),
    job: await findReferencedJob(pool, referTo(resource, namespace)),
    now: new Date(),
  }
}

function referTo({ metadata, spec }: TrainingJob, namespace: string): JobReference {
  return { id: metadata.labels?.[labels.id], namespace, crName: metadata.name ?? '', specDigest: specDigest(spec) }
}

async function execute(
  { pool, namespace }: Context,
  resource: TrainingJob,
  plan: Exclude<JobPlan, { do: 'rest' | 'delete' }>,
): Promise<void> {
  switch (plan.do) {
    case 'insert': {
      await insertJob(pool, describeNewJob(resource, namespace, plan))
      return
    }
    case 'queue':
      return queueJob(pool, plan.id)
    case 'limit':
      return limitAttempts(pool, plan.id, plan.maxAttempts)
    case 'fail':
      await failJob(pool, plan.id, plan.failure)
      return
    case 'cancel':
      await cancelJob(pool, plan.id)
  }
}

/** A job that was made with kubectl, so that its resource is there. */
function describeNewJob(
  resource: TrainingJob,
  namespace: string,
  { modelId, maxAttempts }: Extract<JobPlan, { do: 'insert' }>,
): NewJob {
  const facts = extractJobFacts(resource.spec)
  return {
    ...facts,
    ...referTo(resource, namespace),
    id: randomUUID(),
    modelId,
    maxAttempts,
    trainingDataUrl: facts.method === 'SFT' ? facts.inputUri : null,
    resourceCreatedAt: new Date(),
    keyId: null,
    experimentalConfig: null,
    inputBytes: null,
    creationWarnings: [],
  }
}

async function deleteResource({ client, namespace, log }: Context, { metadata }: TrainingJob): Promise<void> {
  await deleteObject(client, customPath('TrainingJob', namespace, metadata.name), metadata.uid ?? '')
  log.info({ trainingJob: metadata.name }, 'finished resource deleted after its ttl')
}

/** True for a resource that was made for a job that was over already. */
async function isReapplied(context: Context, resource: TrainingJob, job: OperatorJob | undefined): Promise<boolean> {
  if (!job || !isFinished(job)) return false
  const { metadata, status } = resource.status?.id === undefined ? await readAgain(context, resource) : resource
  const isNew = status?.id === undefined
  return (
    isNew ||
    status.reason === reasons.alreadyRan ||
    Date.parse(metadata.creationTimestamp ?? '') > Number(job.finishedAt)
  )
}

/** A job that failed at once may be over before our copy of its resource has the status that we wrote. */
async function readAgain({ client, namespace }: Context, resource: TrainingJob): Promise<TrainingJob> {
  const path = customPath('TrainingJob', namespace, resource.metadata.name)
  return (await readObject<TrainingJob>(client, path)) ?? resource
}

function describe(
  context: Context,
  publisher: Publisher,
  { resource, job, now }: JobFacts,
  plan: Rest,
  alreadyRan: boolean,
): JobStatus {
  if (!job) return describeWaiting(resource, plan.wait ?? waiting, now)
  return describeJob(resource, job, {
    wait: plan.wait,
    alreadyRan,
    trainers: measureTrainers(context, job.baseModel),
    holderName: nameHolder(context, job.holderPod),
    publication: publisher.publicationOf(job.id),
    now,
  })
}

const waiting = { reason: reasons.waitingForOperator, message: 'The operator is taking it in.' }
