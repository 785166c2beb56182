import type { TrainingJob } from '../../crds/generated.ts'
import { isTerminal } from '../../crds/job-states.ts'
import { conditions, reasons } from '../../crds/names.ts'
import { customPath } from '../../crds/paths.ts'
import { cancelJob } from '../../db/jobs/endings.ts'
import { forgetJobResource, hasCreatedJobResource, type OperatorJob } from '../../db/jobs/resources.ts'
import { findQueuePositions } from '../../db/jobs/queue.ts'
import { recordWaitingReason } from '../../db/jobs/waiting-reason.ts'
import { findJobModel } from '../../db/models/resources.ts'
import { deleteObject, readObject } from '../../lib/kube/apply.ts'
import { keyOf, splitKey, uidOf } from '../../lib/kube/objects.ts'
import type { Requeue } from '../../lib/kube/queue.ts'
import { ensureFinalizer, finalize } from '../finalize.ts'
import { modelKeyOf } from '../resource-keys.ts'
import { findWaitingReason } from './dedicated/status.ts'
import { deletePods, hasPods, observePods, reconcileDedicated, type OwnPods } from './dedicated/reconcile.ts'
import type { JobWorkers, TrainingJobDeps } from './deps.ts'
import { executePlan } from './execute.ts'
import { findOwnJob, findSameJob, readFresh } from './find-job.ts'
import { hasEnded, isFinished, planJob, stoppingMs, type JobFacts, type JobPlan } from './plan.ts'
import { hasDropped } from './stopping.ts'
import { writeStatus } from './write-status.ts'

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
  const { namespace } = splitKey(key)
  const deps = { ...given, namespace, podNamespace: given.namespace }
  // 1. The resource is gone.
  const cached = deps.trainingJobs.get(key)
  if (!cached) return reconcileMissing(deps, key)
  const resource = deps.statuses.findLatest(cached)
  // 2. It is being deleted.
  if (resource.metadata.deletionTimestamp !== undefined) return reconcileDeleted(deps, key, resource)
  // 3. The row and the pods become what the resource asks for.
  const { plan, facts, ownPods, jobBefore } = await deps.tracker.inOrder(resource, () => converge(deps, resource))
  deps.tracker.record(key, resource, { job: facts.job, isBlocked: plan.do === 'none' && plan.wait !== undefined })
  // 4. A finished resource is deleted after its ttl.
  if (plan.do === 'delete') return deleteResource(deps, resource)
  // 5. Others do what is left.
  if (plan.fetchInputOf !== undefined) deps.fetchInput(plan.fetchInputOf)
  if (facts.job) deps.onWork(facts.job)
  // 6. The status says what is so.
  const alreadyRan = await isReapplied(deps, resource, jobBefore)
  const later = await writeStatus(deps, key, { ...facts, wait: plan.wait, alreadyRan, ownPods })
  return findEarlier(later, plan.requeueAfterMs)
}

// Node's timers accept at most 2^31 ms.
const maxWaitMs = 24 * 3600_000

function findEarlier(later: Requeue | undefined, plannedMs: number | undefined): Requeue | undefined {
  const afterMs = Math.min(plannedMs ?? Infinity, maxWaitMs)
  return plannedMs !== undefined && afterMs < (later?.afterMs ?? Infinity) ? { afterMs } : later
}

async function reconcileMissing(deps: JobDeps & JobWorkers, key: string): Promise<void> {
  deps.throttle.forget(key)
  deps.tracker.ids.forget(key)
  await restoreLost(deps, key)
}

/** Cancels the job of a resource that is being deleted. The resource stays until the job's GPUs are free. */
async function reconcileDeleted(
  deps: JobDeps & JobWorkers,
  key: string,
  resource: TrainingJob,
): Promise<Requeue | void> {
  deps.tracker.record(key, resource, { isBlocked: false })
  await deletePods(deps, key)
  // A terminal phase never changes. Most resources are deleted after it.
  const isOver = isTerminal(resource.status?.phase ?? 'Pending')
  const record = isOver ? undefined : () => recordDeletion(deps, resource)
  const isFree = async () => !hasPods(deps, key) && (isOver || (await observe(deps, resource)).stoppingIn === undefined)
  if (!(await finalize(deps, { kind: 'TrainingJob', resource, record, isFree }))) return { afterMs: stoppingMs }
}

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

interface Converged {
  plan: NoAction | { do: 'delete' }
  facts: JobFacts
  ownPods?: OwnPods
  /** The job as it was found at first. */
  jobBefore: OperatorJob | undefined
}

/** Plans and executes until nothing is left to do. */
async function converge(deps: JobDeps, resource: TrainingJob): Promise<Converged> {
  const first = await observe(deps, resource)
  const { job: jobBefore } = first
  for (let facts = first; ; facts = await observe(deps, facts.resource)) {
    const plan = planJob(facts)
    if (plan.do === 'delete') return { plan, facts, jobBefore }
    if (!hasEnded(facts)) {
      facts.resource = await ensureFinalizer(deps, 'TrainingJob', facts.resource)
    }
    if (plan.do === 'none') {
      const settled = await settlePods(deps, facts, plan)
      if (settled) return { ...settled, jobBefore }
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
  const { isChanged, requeueAfterMs = plan.requeueAfterMs } = await reconcileDedicated(
    deps,
    key,
    await addQueuePosition(deps, job),
  )
  if (isChanged) return undefined
  const ownPods = await observePods(deps, key, { id: job.id, isEnding: isFinished(job) && !hasFinished(resource) })
  const waitingReason = findWaitingReason(job, ownPods)
  if (waitingReason !== job.waitingReason) await recordWaitingReason(deps.pool, job.id, waitingReason)
  const earlier = Math.min(requeueAfterMs ?? Infinity, plan.requeueAfterMs ?? Infinity)
  return { plan: { ...plan, ...(earlier !== Infinity && { requeueAfterMs: earlier }) }, facts, ownPods }
}

/** A waiting job with its position, which says whether it gets pods now. The positions in statuses are older. */
async function addQueuePosition(deps: JobDeps, job: OperatorJob): Promise<OperatorJob> {
  return { ...job, ...(await findQueuePositions(deps, [job])).get(job.id) }
}

/** Whether its status says that it has ended, and that its GPUs are free. */
function hasFinished({ status }: TrainingJob): boolean {
  return (
    status?.conditions?.some(({ type, status: holds }) => type === conditions.finished && holds === 'True') === true
  )
}

async function observe(deps: TrainingJobDeps, resource: TrainingJob): Promise<JobFacts> {
  const found = deps.models.get(modelKeyOf(resource))
  const baseModel = found && deps.baseModels.get(found.spec.baseModelRef.name)
  const known = {
    resource,
    modelExists: found !== undefined,
    priorityClassNames: baseModel?.spec.trainer?.priorityClassNames ?? [],
    now: new Date(),
  }
  const own = await findOwnJob(deps, resource)
  // What comes after that does not depend on the model.
  if (own && own.state !== 'Pending') {
    return { ...known, model: undefined, job: own, stoppingIn: findStopping(deps, resource, own) }
  }
  const isAllowed = found === undefined || deps.tenants.mayClaim(deps.namespace, found.spec.entity)
  const model = isAllowed ? await findJobModel(deps.pool, deps.namespace, resource.spec.modelRef.name) : undefined
  const job = own ?? (await findSameJob(deps, resource, model?.id))
  // A job may end before its status, and with it its id, was ever written.
  return { ...known, model, job, stoppingIn: job && findStopping(deps, resource, job) }
}

/** Finds the pod whose trainer still works on a job that has ended. What a status once said to be over stays so. */
function findStopping({ pods }: TrainingJobDeps, { status }: TrainingJob, job: OperatorJob): string | undefined {
  // The status of a job that has pods of its own waits until they are gone.
  if (!isFinished(job) || job.mode === 'Dedicated' || isTerminal(status?.phase ?? 'Pending')) return undefined
  const podOf = (uid: string) => pods.list().find((pod) => uidOf(pod) === uid)
  const left = job.stopping.find((attempt) => !hasDropped(attempt, podOf(attempt.pod), new Date()))
  return left && podOf(left.pod)?.metadata.name
}

async function deleteResource({ client, namespace, log }: TrainingJobDeps, { metadata }: TrainingJob): Promise<void> {
  await deleteObject(client, customPath('TrainingJob', namespace, metadata.name), metadata.uid ?? '')
  log.info({ trainingJob: metadata.name }, 'finished resource deleted after its ttl')
}

/** Whether the resource was created for a job that had already finished. */
async function isReapplied(
  deps: TrainingJobDeps & JobWorkers,
  resource: TrainingJob,
  job: OperatorJob | undefined,
): Promise<boolean> {
  if (!job || !isFinished(job) || job.finishedAt === null) return false
  if (resource.status?.reason === reasons.alreadyRan) return true
  const createdAt = Date.parse(resource.metadata.creationTimestamp ?? '')
  // Kubernetes' times have whole seconds.
  const finishedAt = Math.floor(job.finishedAt.getTime() / 1000) * 1000
  if (createdAt !== finishedAt) return createdAt > finishedAt
  if (resource.status?.id !== undefined || deps.throttle.knows(keyOf(resource))) return false
  return (await readFresh(deps, resource)).status?.id === undefined
}
