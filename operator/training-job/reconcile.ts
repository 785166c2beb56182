import { randomUUID } from 'node:crypto'
import { extractJobFacts } from '../../crds/manifests.ts'
import type { BaseModel, Model, TrainingJob } from '../../crds/generated.ts'
import { isTerminal } from '../../crds/job-states.ts'
import { reasons } from '../../crds/names.ts'
import { specDigest } from '../../crds/spec-digest.ts'
import { cancelJob, failJob } from '../../db/jobs/endings.ts'
import { queueJob } from '../../db/jobs/enqueue.ts'
import { insertJob } from '../../db/jobs/insert.ts'
import { forgetJobResource, hasCreatedJobResource, limitAttempts, type OperatorJob } from '../../db/jobs/resources.ts'
import type { NewJob } from '../../db/jobs/table.ts'
import { findJobModel } from '../../db/models/resources.ts'
import type { Pool } from '../../db/pool.ts'
import type { Logger } from '../../lib/log.ts'
import type { KubeClient } from '../../lib/kube/client.ts'
import type { ObjectCache } from '../../lib/kube/reflector.ts'
import { splitKey, type Pod } from '../../lib/kube/objects.ts'
import { deleteObject, patchStatus, readObject } from '../../lib/kube/apply.ts'
import { recordEvents } from '../../lib/kube/events.ts'
import { customPath } from '../../crds/paths.ts'
import type { Requeue } from '../../lib/kube/queue.ts'
import { addModelLabels } from '../add-model-labels.ts'
import { ensureFinalizer, letGo } from '../let-go.ts'
import { isFinished, planJob, type JobFacts, type JobPlan } from './plan.ts'
import { describeJob, describeWaiting, type JobContext, type JobStatus, type Publication } from './status.ts'
import { diffJobEvents } from './job-events.ts'
import { findPodName } from '../component-pods.ts'
import type { OperatorEvents } from '../metrics/events.ts'
import { countEnd } from './count-end.ts'
import { findJob, idsOf, readWhole } from './find-job.ts'
import { measureTrainers } from './trainers.ts'
import { modelKeyOf } from '../resource-keys.ts'
import type { Tenants } from '../tenants.ts'

/** What the reconciliation of training jobs needs. */
export interface TrainingJobDeps {
  client: KubeClient
  pool: Pool
  log: Logger
  namespace: string
  tenants: Tenants
  baseModels: ObjectCache<BaseModel>
  models: ObjectCache<Model>
  trainingJobs: ObjectCache<TrainingJob>
  pods: ObjectCache<Pod>
  events: OperatorEvents
}

/** Slow work that runs concurrently with the reconciliation. */
export interface JobWorkers {
  /** Queues the fetch of a job's input. Queueing it twice changes nothing. */
  fetchInput: (jobId: string) => void
  /** How many engines loaded the checkpoint of a job, if this process published it. */
  findPublication: (jobId: string) => Publication | undefined
}

type NoAction = Extract<JobPlan, { do: 'none' }>

/**
 * Reconciles a TrainingJob with its row in Postgres and writes its status. Trainers work from the row. The operator
 * inserts it, and checks and queues the job. It cancels the job when its resource is deleted,
 * and makes a resource again that was lost. It never lets a job train
 * twice.
 */
export async function reconcileTrainingJob(given: TrainingJobDeps & JobWorkers, key: string): Promise<Requeue | void> {
  const { namespace, name } = splitKey(key)
  const deps = { ...given, namespace }
  const resource = deps.trainingJobs.get(key)
  if (!resource) return restoreLost(deps, name)
  if (resource.metadata.deletionTimestamp !== undefined) {
    // A terminal phase never changes. Most resources are deleted after it.
    const isOver = isTerminal(resource.status?.phase ?? 'Pending')
    const record = isOver ? undefined : () => recordDeletion(deps, resource)
    return letGo(deps, { kind: 'TrainingJob', resource, record })
  }
  const first = await observe(deps, resource)
  const { plan, facts } = await converge(deps, first)
  if (plan.do === 'delete') return deleteResource(deps, resource)
  if (plan.fetchInputOf !== undefined) deps.fetchInput(plan.fetchInputOf)
  if (!facts.job || !isFinished(facts.job)) await labelJob(deps, resource)
  const alreadyRan = await isReapplied(deps, resource, first.job)
  const status = describe(deps, { ...facts, wait: plan.wait, alreadyRan })
  await patchStatus(deps.client, customPath('TrainingJob', deps.namespace, name), resource, status)
  await recordEvents(deps, resource, diffJobEvents(resource.status, status))
  countEnd(deps, facts, status)
  if (plan.requeueAfterMs !== undefined) return { afterMs: Math.min(plan.requeueAfterMs, maxWaitMs) }
}

async function labelJob(deps: TrainingJobDeps, resource: TrainingJob): Promise<void> {
  const model = deps.models.get(modelKeyOf(resource))
  if (model) await addModelLabels(deps, 'TrainingJob', { resource, model: model.spec })
}

// Node's timers accept at most 2^31 ms.
const maxWaitMs = 24 * 3600_000

/** Asks kube-apiserver first, because our copy may be older than the row. */
async function restoreLost({ client, pool, namespace, log, events }: TrainingJobDeps, name: string): Promise<void> {
  if (!(await hasCreatedJobResource(pool, namespace, name))) return
  if (await readObject(client, customPath('TrainingJob', namespace, name))) return
  const jobs = await forgetJobResource(pool, namespace, name)
  events.recordDrift('job_resource_lost')
  log.warn({ jobs, name }, 'the resource of a job was lost, and is made again')
}

async function recordDeletion(deps: TrainingJobDeps, resource: TrainingJob): Promise<void> {
  const { job } = await observe(deps, resource)
  if (!job || isFinished(job)) return
  if (!(await cancelJob(deps.pool, job.id))) return
  deps.events.recordDrift('job_resource_deleted')
  deps.log.info({ job: job.id }, 'job ended, because its resource was deleted')
}

/** Plans and executes until nothing is left to do. */
async function converge(
  deps: TrainingJobDeps,
  first: JobFacts,
): Promise<{ plan: NoAction | { do: 'delete' }; facts: JobFacts }> {
  for (let facts = first; ; facts = await observe(deps, facts.resource)) {
    const plan = planJob(facts)
    if (plan.do === 'delete') return { plan, facts }
    if (!facts.job || !isFinished(facts.job)) {
      facts.resource = await ensureFinalizer(deps, 'TrainingJob', facts.resource)
    }
    if (plan.do === 'none') return { plan, facts }
    deps.log.info({ trainingJob: facts.resource.metadata.name, ...plan }, 'training job')
    await execute(deps, facts.resource, plan)
  }
}

async function observe(deps: TrainingJobDeps, resource: TrainingJob): Promise<JobFacts> {
  const found = deps.models.get(modelKeyOf(resource))
  const isAllowed = found === undefined || deps.tenants.mayClaim(deps.namespace, found.spec.entity)
  const model = isAllowed ? await findJobModel(deps.pool, deps.namespace, resource.spec.modelRef.name) : undefined
  return {
    resource,
    modelExists: found !== undefined,
    model,
    job: await findJob(deps, resource, model?.id),
    now: new Date(),
  }
}

async function execute(
  deps: TrainingJobDeps,
  resource: TrainingJob,
  plan: Exclude<JobPlan, { do: 'none' | 'delete' }>,
): Promise<void> {
  const { pool, namespace } = deps
  switch (plan.do) {
    case 'insert': {
      if (idsOf(resource).length > 0) deps.events.recordDrift('job_row_lost')
      await insertJob(pool, describeNewJob(await readWhole(deps, resource), namespace, plan))
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

/** Describes a job from kubectl: its resource exists. */
function describeNewJob(
  resource: TrainingJob,
  namespace: string,
  { modelId, maxAttempts }: Extract<JobPlan, { do: 'insert' }>,
): NewJob {
  const facts = extractJobFacts(resource.spec)
  return {
    ...facts,
    id: randomUUID(),
    namespace,
    crName: resource.metadata.name ?? '',
    specDigest: specDigest(resource.spec),
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

async function deleteResource({ client, namespace, log }: TrainingJobDeps, { metadata }: TrainingJob): Promise<void> {
  await deleteObject(client, customPath('TrainingJob', namespace, metadata.name), metadata.uid ?? '')
  log.info({ trainingJob: metadata.name }, 'finished resource deleted after its ttl')
}

/** Whether the resource was created for a job that had already finished. */
async function isReapplied(
  deps: TrainingJobDeps,
  resource: TrainingJob,
  job: OperatorJob | undefined,
): Promise<boolean> {
  if (!job || !isFinished(job)) return false
  const { metadata, status } = resource.status?.id === undefined ? await readFresh(deps, resource) : resource
  const isNew = status?.id === undefined
  return (
    isNew ||
    status.reason === reasons.alreadyRan ||
    Date.parse(metadata.creationTimestamp ?? '') > Number(job.finishedAt)
  )
}

/** A job that fails at once may be finished before our copy of its resource has the status that we wrote. */
async function readFresh({ client, namespace }: TrainingJobDeps, resource: TrainingJob): Promise<TrainingJob> {
  const path = customPath('TrainingJob', namespace, resource.metadata.name)
  return (await readObject<TrainingJob>(client, path)) ?? resource
}

function describe(
  deps: TrainingJobDeps & JobWorkers,
  { resource, job, now, wait, alreadyRan }: JobFacts & Pick<JobContext, 'wait' | 'alreadyRan'>,
): JobStatus {
  if (!job) return describeWaiting(resource, wait ?? waiting, now)
  return describeJob(resource, job, {
    wait,
    alreadyRan,
    trainers: measureTrainers(deps, job.baseModel),
    holderName: findPodName(deps.pods, job.holderPod),
    publication: deps.findPublication(job.id),
    now,
  })
}

const waiting = { reason: reasons.waitingForOperator, message: 'The operator is processing it.' }
