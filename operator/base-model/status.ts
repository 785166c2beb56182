import type { BaseModel } from '../../crds/generated.ts'
import { conditions, labels, reasons } from '../../crds/names.ts'
import { fact, mergeConditions, type Fact } from '../conditions.ts'
import { isReady, type Deployment, type Pod } from '../../lib/kube/objects.ts'
import { explainPod, type PodReason } from './pod-reason.ts'

/** What was seen of a base model's workload. */
export interface WorkloadFacts {
  enginePods: Pod[]
  deployment: Deployment | undefined
  engineHash: string
  trainerPods: Pod[]
  trainerHash: string
  /** what the API server says against making them (a quota, a missing service account) */
  refusal: { reason: string | undefined; message: string } | undefined
  now: Date
}

export type BaseModelStatus = NonNullable<BaseModel['status']>

interface Part {
  wanted: number
  ready: number
  /** the first thing that is wrong */
  fault?: PodReason | undefined
}

/** The status of a base model, measured from its pods: Ready when all engines answer and all trainers run. */
export function describeBaseModel(baseModel: BaseModel, facts: WorkloadFacts): BaseModelStatus {
  const engine = measureEngines(baseModel, facts)
  const trainers = measure(facts.trainerPods, facts.trainerHash, baseModel.spec.trainer?.warm?.min ?? 1)
  const ready = judge(engine, trainers, facts)
  const accepted = fact(conditions.accepted, true, reasons.accepted, 'Its names and its source are taken.')
  const available = fact(
    conditions.workloadAvailable,
    engine.ready > 0,
    engine.ready > 0 ? 'EnginesAnswer' : ready.reason,
    `${engine.ready} of ${engine.wanted} engines answer, ${trainers.ready} of ${trainers.wanted} trainers run.`,
  )
  const generation = baseModel.metadata.generation ?? 0
  return {
    observedGeneration: generation,
    reason: ready.reason,
    engine: { replicas: engine.wanted, ready: engine.ready, summary: `${engine.ready}/${engine.wanted}` },
    trainers: { wanted: trainers.wanted, ready: trainers.ready, summary: `${trainers.ready}/${trainers.wanted}` },
    conditions: mergeConditions(baseModel.status?.conditions, [accepted, available, ready], generation, facts.now),
  }
}

/** The status of a base model that cannot be taken in. */
export function describeRefused(baseModel: BaseModel, reason: string, message: string, now: Date): BaseModelStatus {
  const generation = baseModel.metadata.generation ?? 0
  const facts = [fact(conditions.accepted, false, reason, message), fact(conditions.ready, false, reason, message)]
  return {
    observedGeneration: generation,
    reason,
    conditions: mergeConditions(baseModel.status?.conditions, facts, generation, now),
  }
}

function judge(engine: Part, trainers: Part, { refusal }: WorkloadFacts): Fact {
  const says = (holds: boolean, reason: string, message: string) => fact(conditions.ready, holds, reason, message)
  if (refusal) return says(false, refusal.reason ?? 'Refused', refusal.message)
  if (engine.wanted === 0) return says(false, reasons.engineAtZero, 'spec.engine.replicas is 0: nothing answers chats.')
  const late = findLate(engine, trainers)
  return late
    ? says(false, late.reason, late.message)
    : says(true, reasons.ready, 'All engines answer, all trainers run.')
}

function findLate(engine: Part, trainers: Part): PodReason | undefined {
  const message = 'Its pods are not made yet.'
  if (engine.ready < engine.wanted) return engine.fault ?? { reason: reasons.engineNotReady, message }
  if (trainers.ready < trainers.wanted) return trainers.fault ?? { reason: reasons.trainerNotReady, message }
  return undefined
}

function measureEngines(baseModel: BaseModel, facts: WorkloadFacts): Part {
  const part = measure(facts.enginePods, facts.engineHash, baseModel.spec.engine?.replicas ?? 1)
  return { ...part, fault: part.fault ?? explainDeployment(facts.deployment) }
}

/** Pods of an earlier specification are on their way out and count for nothing. */
function measure(pods: Pod[], hash: string, wanted: number): Part {
  const current = pods.filter((pod) => pod.metadata.labels?.[labels.specHash] === hash)
  const waiting = current.filter((pod) => !isReady(pod))
  return { wanted, ready: current.length - waiting.length, fault: waiting[0] && explainPod(waiting[0]) }
}

/** Where no pod could even be made (a quota, a forbidden field), the Deployment says why. */
function explainDeployment(deployment: Deployment | undefined): PodReason | undefined {
  const failure = deployment?.status?.conditions?.find(({ type }) => type === 'ReplicaFailure')
  if (failure?.status !== 'True') return undefined
  return { reason: failure.reason ?? 'ReplicaFailure', message: failure.message ?? '' }
}
