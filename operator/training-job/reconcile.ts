import type { BaseModel, Model, TrainingJob } from '../../crds/generated.ts'
import { isTerminal } from '../../crds/job-states.ts'
import { conditions, reasons } from '../../crds/names.ts'
import { cancelJob } from '../../db/jobs/endings.ts'
import { forgetJobResource, hasCreatedJobResource, type OperatorJob } from '../../db/jobs/resources.ts'
import { findJobModel } from '../../db/models/resources.ts'
import type { Pool } from '../../db/pool.ts'
import type { Logger } from '../../lib/log.ts'
import type { KubeClient } from '../../lib/kube/client.ts'
import type { ObjectCache } from '../../lib/kube/reflector.ts'
import { keyOf, splitKey, type Job, type Pod } from '../../lib/kube/objects.ts'
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
import type { PodSettings } from '../base-model/common-pod.ts'
import { deletePods, hasPods, observePods, reconcileDedicated, type OwnPods } from './dedicated/reconcile.ts'
import type { OperatorEvents } from '../metrics/events.ts'
import { countEnd } from './count-end.ts'
import { executePlan } from './execute.ts'
import { findJob, readFresh } from './find-job.ts'
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
  jobs: ObjectCache<Job>
  pods: ObjectCache<Pod>
  podSettings: PodSettings
  events: OperatorEvents
}

/** Slow work that runs concurrently with the reconciliation. */
export interface JobWorkers {
  /** Queues the fetch of a job's input. Queueing it twice changes nothing. */
  fetchInput: (jobId: string) => void
  /** How many engines loaded the checkpoint of a job, if this process published it. */
  findPublication: (jobId: string) => Publication | undefined
}

/** `namespace` is that of the resource. */
type JobDeps = TrainingJobDeps & { podNamespace: string }

type NoAction = Extract<JobPlan, { do: 'none' }>

/**
 * Reconciles a TrainingJob with its row in Postgres and writes its status. Trainers work from the row. The operator
 * inserts it, and checks and queues the job. It cancels the job when its resource is deleted,
 * and makes a resource again that was lost. It never lets a job train
 * twice.
 */
export async function reconcileTrainingJob(given: TrainingJobDeps & JobWorkers, key: string): Promise<Requeue | void> {
  const { namespace, name } = splitKey(key)
  const deps = { ...given, namespace, podNamespace: given.namespace }
  const resource = deps.trainingJobs.get(key)
  if (!resource) return restoreLost(deps, key)
  if (resource.metadata.deletionTimestamp !== undefined) {
    await deletePods(deps, key)
    // A terminal phase never changes. Most resources are deleted after it.
    const isOver = isTerminal(resource.status?.phase ?? 'Pending')
    const record = isOver ? undefined : () => recordDeletion(deps, resource)
    return letGo(deps, { kind: 'TrainingJob', resource, record })
  }
  const first = await observe(deps, resource)
  const { plan, facts, ownPods } = await converge(deps, first)
  if (plan.do === 'delete') return deleteResource(deps, resource)
  if (plan.fetchInputOf !== undefined) deps.fetchInput(plan.fetchInputOf)
  if (!facts.job || !isFinished(facts.job)) await labelJob(deps, resource)
  const alreadyRan = await isReapplied(deps, resource, first.job)
  const status = describe(deps, { ...facts, wait: plan.wait, alreadyRan, ownPods })
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
async function restoreLost(deps: JobDeps, key: string): Promise<void> {
  const { client, pool, namespace, log, events } = deps
  const { name } = splitKey(key)
  const isUnfinished = await hasCreatedJobResource(pool, namespace, name)
  if (!isUnfinished && !hasPods(deps, key)) return
  if (await readObject(client, customPath('TrainingJob', namespace, name))) return
  await deletePods(deps, key)
  if (!isUnfinished) return
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
  deps: JobDeps,
  first: JobFacts,
): Promise<{ plan: NoAction | { do: 'delete' }; facts: JobFacts; ownPods?: OwnPods }> {
  for (let facts = first; ; facts = await observe(deps, facts.resource)) {
    const plan = planJob(facts)
    if (plan.do === 'delete') return { plan, facts }
    if (!facts.job || !isFinished(facts.job)) {
      facts.resource = await ensureFinalizer(deps, 'TrainingJob', facts.resource)
    }
    if (plan.do === 'none') {
      const settled = await settlePods(deps, facts, plan)
      if (settled) return settled
      continue
    }
    deps.log.info({ trainingJob: facts.resource.metadata.name, ...plan }, 'training job')
    facts.resource = (await executePlan(deps, facts.resource, plan)) ?? facts.resource
  }
}

/** Undefined if the pods of a job, or its row, have changed, so that it is to be planned again. */
async function settlePods(deps: JobDeps, facts: JobFacts, plan: NoAction) {
  const { job, resource } = facts
  if (job?.mode !== 'Dedicated') return { plan, facts }
  const key = keyOf(resource)
  const { isChanged, requeueAfterMs = plan.requeueAfterMs } = await reconcileDedicated(deps, key, job)
  if (isChanged) return undefined
  const ownPods = await observePods(deps, key, { id: job.id, isEnding: isFinished(job) && !hasFinished(resource) })
  const earlier = Math.min(requeueAfterMs ?? Infinity, plan.requeueAfterMs ?? Infinity)
  return { plan: { ...plan, ...(earlier !== Infinity && { requeueAfterMs: earlier }) }, facts, ownPods }
}

/** Whether its status says that it has ended, and that its GPUs are free. */
function hasFinished({ status }: TrainingJob): boolean {
  return (
    status?.conditions?.some(({ type, status: holds }) => type === conditions.finished && holds === 'True') === true
  )
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

function describe(
  deps: TrainingJobDeps & JobWorkers,
  { resource, job, now, wait, alreadyRan, ownPods }: JobFacts & Pick<JobContext, 'wait' | 'alreadyRan' | 'ownPods'>,
): JobStatus {
  if (!job) return describeWaiting(resource, wait ?? waiting, now)
  return describeJob(resource, job, {
    wait,
    alreadyRan,
    ownPods,
    trainers: measureTrainers(deps, job.baseModel),
    holderName: findPodName(deps.pods, job.holderPod),
    publication: deps.findPublication(job.id),
    now,
  })
}

const waiting = { reason: reasons.waitingForOperator, message: 'The operator is processing it.' }
