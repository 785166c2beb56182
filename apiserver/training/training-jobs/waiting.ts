import type { JobPhase } from '../../../crds/job-states.ts'
import { reasons } from '../../../crds/names.ts'
import type { Holders } from '../../../db/jobs/holders.ts'
import { explainBlock } from '../../../db/jobs/queue-blocks.ts'
import type { JobView } from '../../../db/jobs/views.ts'

/** Why a job waits, in words for people. */
export interface Waiting {
  reason: string
  sentence: string
  position: number | null
  ahead: number | null
  holder: { job_id: string; state: JobPhase } | null
}

type WaitingJob = Pick<JobView, 'state' | 'queue' | 'mode' | 'waitingReason' | 'queueName' | 'progressStep'>

type Cause = Pick<Waiting, 'reason' | 'sentence'> & Partial<Pick<Waiting, 'holder'>>

/** Says why a job waits, with its position and what would let it begin. Null for a job that does not wait. */
export function describeWaiting(job: WaitingJob, holders: Holders): Waiting | null {
  const early = explainUnqueued(job)
  if (early) return { ...early, position: null, ahead: null, holder: null }
  const { queue } = job
  if (!queue) return null
  const position = queue.ahead === 0 ? queue.position : queue.ahead + 1
  return { position, ahead: position - 1, holder: null, ...explainQueued(job, queue, holders) }
}

/** Why a job is in no queue. Undefined for one that is Queued, or does not wait. */
function explainUnqueued(job: WaitingJob): Cause | undefined {
  const causes: Partial<Record<JobPhase, Cause>> = {
    Pending: {
      reason: reasons.waitingForOperator,
      sentence: 'It is not queued yet: the operator queues it when it has checked its model and fetched its data.',
    },
    Suspending: {
      reason: reasons.suspending,
      sentence: 'It is being suspended: its pod saves its progress and ends.',
    },
    Suspended: { reason: reasons.suspended, sentence: saySuspended(job) },
  }
  return causes[job.state]
}

function explainQueued(job: WaitingJob, queue: NonNullable<JobView['queue']>, holders: Holders): Cause {
  const { ahead, position, hasBaseModel, block } = queue
  if (!hasBaseModel) {
    const sentence = 'No base model serves its model now. It begins when an administrator adds the base model again.'
    return { reason: reasons.baseModelNotFound, sentence }
  }
  if (block) {
    const { reason, message: sentence } = explainBlock(block, new Date())
    return { reason, sentence }
  }
  if (ahead > 0) {
    const holder = presentHolder(holders.ofModel)
    return { reason: reasons.waitingForModel, sentence: sayModel(ahead, holders), holder }
  }
  if (job.mode === 'Dedicated') return { reason: job.waitingReason ?? reasons.waitingForPod, sentence: sayOwnPods(job) }
  const reason = holders.trainerTrouble ?? reasons.waitingForTrainer
  return { reason, sentence: sayTrainer(position, holders), holder: presentHolder(holders.own) }
}

function sayModel(ahead: number, { ofModel }: Holders): string {
  const jobs = ahead === 1 ? '1 job' : `${ahead} jobs`
  const first = ofModel ? `, ${ahead === 1 ? 'which' : 'the first of which'} is ${ofModel.state}` : ''
  // Time alone does not end it.
  const isSuspended = ofModel?.state === 'Suspended' || ofModel?.state === 'Suspending'
  return (
    `A model is trained by one job at a time, and ${jobs} of its model ${ahead === 1 ? 'is' : 'are'} before it${first}. ` +
    `It begins when ${ahead === 1 ? 'that job has' : 'they have'} ended` +
    `${isSuspended ? ': resume or cancel the suspended job' : ''}.`
  )
}

function saySuspended({ progressStep }: WaitingJob): string {
  const next = progressStep > 0 ? `continues after its last save, up to gradient step ${progressStep},` : 'begins'
  return `It is suspended, and has no pods. It ${next} when it is resumed (POST .../resume).`
}

function sayOwnPods({ waitingReason, queueName }: WaitingJob): string {
  if (waitingReason === null) return 'It has pods of its own. It begins when the cluster has room for them.'
  if (waitingReason === reasons.waitingForQuota) return `It begins when Kueue admits it from the queue ${queueName}.`
  if (waitingReason === reasons.downloading) return 'Its pod downloads the base model. It begins when that is done.'
  return `Its pod cannot start (${waitingReason}): ${sayTrouble(waitingReason, 'its resource')}.`
}

/** What the reasons of pods mean. Their own messages are for administrators: they name nodes and images. */
const troubles: Record<string, string> = {
  InsufficientGPU: 'no node of the cluster has a free GPU for it',
  Unschedulable: 'no node of the cluster takes it',
  ImagePullBackOff: 'its image cannot be fetched',
  MissingSecretOrConfig: 'a Secret or a ConfigMap that it reads is missing',
  CrashLoopBackOff: 'it ends again and again',
  OOMKilled: 'it needs more memory than it may have',
}

function sayTrouble(reason: string, resource: string): string {
  return troubles[reason] ?? `an administrator sees more in the status of ${resource}`
}

function sayTrainer(position: number, { training, own, trainerTrouble }: Holders): string {
  const line = `It has position ${position} in the queue for a trainer of its base model.`
  if (trainerTrouble !== null) {
    const why = sayTrouble(trainerTrouble, 'the base model')
    return `${line} No trainer can start (${trainerTrouble}): ${why}. It begins when one has started.`
  }
  if (training === 0) return `${line} No trainer has a job now: it begins when one has started.`
  const jobs = training === 1 ? '1 job' : `${training} jobs`
  const ofOwn = own ? ', at least one of them of your entity' : ', all of other entities'
  return `${line} The trainers have ${jobs}${ofOwn}. It begins when a trainer has room for it.`
}

function presentHolder(holder: Holders['own']): Waiting['holder'] {
  return holder && { job_id: holder.id, state: holder.state }
}
