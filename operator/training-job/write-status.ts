import { isTerminal } from '../../crds/job-states.ts'
import { labels, reasons } from '../../crds/names.ts'
import { customPath } from '../../crds/paths.ts'
import type { TrainingJob } from '../../crds/generated.ts'
import { findNextJob } from '../../db/jobs/next-job.ts'
import type { OperatorJob } from '../../db/jobs/resources.ts'
import { isStatusChanged } from '../../lib/kube/apply.ts'
import { recordEvents } from '../../lib/kube/events.ts'
import type { Requeue } from '../../lib/kube/queue.ts'
import { addModelLabels } from '../add-model-labels.ts'
import { findPodName } from '../component-pods.ts'
import { keyOfRow, modelKeyOf } from '../resource-keys.ts'
import { countEnd } from './count-end.ts'
import { phaseOf } from './dedicated/status.ts'
import type { JobWorkers, TrainingJobDeps } from './deps.ts'
import { diffJobEvents } from './job-events.ts'
import { planFirstDelay, planStatusDelay } from './status-delay.ts'
import { hasEnded, type JobFacts } from './plan.ts'
import { describeJob, describeWaiting, type JobContext, type JobStatus } from './status.ts'
import { measureTrainers } from './trainers.ts'

type DescribedFacts = JobFacts & Pick<JobContext, 'wait' | 'alreadyRan' | 'ownPods'>

/** Writes the status, and then its Events. Returns when it has to be looked at again, if so. */
export async function writeStatus(
  deps: TrainingJobDeps & JobWorkers,
  key: string,
  given: DescribedFacts,
): Promise<Requeue | undefined> {
  const { resource } = given
  const facts = await addQueuePosition(deps, key, given)
  if ('afterMs' in facts) return facts
  if (!hasEnded(facts)) await labelJob(deps, resource)
  const status = describe(deps, facts)
  const isChanged = isStatusChanged(resource.status, status)
  const delay = planStatusDelay(resource.status, status, deps.queuePositions.size)
  const waitMs = isChanged ? deps.throttle.notice(key, delay, status.phase) : 0
  if (waitMs > 0) return { afterMs: waitMs, isRoutine: status.phase === 'Queued' }
  if (isChanged) await write(deps, facts, status)
  if (!isTerminal(status.phase ?? 'Pending')) deps.throttle.settle(key, { isWritten: isChanged })
  else await end(deps, key, isChanged ? facts.job : undefined)
  return undefined
}

async function write(deps: TrainingJobDeps & JobWorkers, facts: DescribedFacts, status: JobStatus): Promise<void> {
  const { resource } = facts
  await deps.statuses.write(customPath('TrainingJob', deps.namespace, resource.metadata.name), resource, status)
  const isOfRest = resource.metadata.labels?.[labels.id] !== undefined
  await recordEvents(deps, resource, diffJobEvents(resource.status, status, { isOfRest }))
  countEnd(deps, facts, status)
}

/** Looks at the next job of the model when a job has just ended. */
async function end(
  { pool, throttle, onNext }: TrainingJobDeps & JobWorkers,
  key: string,
  job: OperatorJob | undefined,
): Promise<void> {
  throttle.forget(key)
  const next = job && (await findNextJob(pool, job.id))
  if (next) onNext(keyOfRow(next))
}

// It has just left the queue, or entered it.
const notPlacedMs = 1_000

/** Adds the position of a waiting job. Returns when to look again if it is too early for that. */
async function addQueuePosition(
  { throttle, queuePositions }: JobWorkers,
  key: string,
  facts: DescribedFacts,
): Promise<DescribedFacts | Requeue> {
  const { job, resource } = facts
  if (job?.state !== 'Queued') return facts
  if (resource.status?.phase !== 'Queued') {
    const waitMs = throttle.notice(key, planFirstDelay(queuePositions.size), phaseOf(job))
    if (waitMs > 0) return { afterMs: waitMs, isRoutine: true }
  }
  const position = await queuePositions.find(job.id)
  return position ? { ...facts, job: { ...job, ...position } } : { afterMs: notPlacedMs }
}

async function labelJob(deps: TrainingJobDeps, resource: TrainingJob): Promise<void> {
  const model = deps.models.get(modelKeyOf(resource))
  if (model) await addModelLabels(deps, 'TrainingJob', { resource, model: model.spec })
}

function describe(
  deps: TrainingJobDeps & JobWorkers,
  { resource, job, stoppingIn, now, wait, alreadyRan, ownPods }: DescribedFacts,
): JobStatus {
  if (!job) return (hasEnded({ resource, job }) && resource.status) || describeWaiting(resource, wait ?? waiting, now)
  return describeJob(resource, job, {
    wait,
    alreadyRan,
    stoppingIn,
    ownPods,
    trainers: measureTrainers(deps, job.baseModel),
    holderName: findPodName(deps.pods, job.holderPod),
    publication: deps.findPublication(job.id),
    now,
  })
}

const waiting = { reason: reasons.waitingForOperator, message: 'The operator is processing it.' }
