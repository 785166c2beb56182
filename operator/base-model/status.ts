import type { BaseModel } from '../../crds/generated.ts'
import { conditions, labels, reasons } from '../../crds/names.ts'
import {
  boundMessage,
  buildCondition,
  mergeConditions,
  summarize,
  type ConditionInput,
  type StatusReason,
} from '../conditions.ts'
import type { UntrainedLayers } from '../../db/base-models/untrained-layers.ts'
import { isReady, type Deployment, type Pod } from '../../lib/kube/objects.ts'
import { findFailures, type TrainerFailures } from './trainer/failed-trainers.ts'
import { describeLayers, describeTurn } from './detail-conditions.ts'
import { explainWaitingPod, listDownloads, type Downloads } from './pod/downloads.ts'
import { explainRejectedPods } from './pod/security.ts'

/** The observed workload of a base model. */
export interface WorkloadFacts {
  enginePods: Pod[]
  deployment: Deployment | undefined
  engineHash: string
  wantedEngines: number
  trainerPods: Pod[]
  trainerHash: string
  wantedTrainers: number
  /** Why the API server did not create them (a quota, a missing service account). */
  creationError: { reason: string | undefined; message: string } | undefined
  downloads: Downloads
  /** Undefined until a trainer has loaded the base model. */
  untrainedLayers: UntrainedLayers | undefined
  /** The BaseModel whose engines are replaced before its own. */
  turnOf: string | undefined
  now: Date
}

export type BaseModelStatus = NonNullable<BaseModel['status']>

interface Part {
  wanted: number
  ready: number
  /** The first problem. */
  reason?: StatusReason | undefined
}

interface Pods {
  pods: Pod[]
  /** Of the current specification. */
  hash: string
  wanted: number
}

/** Computes the status of a base model from its pods. It is Ready when all engines answer and all trainers run. */
export function describeBaseModel(baseModel: BaseModel, facts: WorkloadFacts): BaseModelStatus {
  const engine = measureEngines(facts)
  const failures = findFailures(selectCurrent(facts.trainerPods, facts.trainerHash))
  const trainers = measureTrainers(facts, failures)
  const ready = describeReady(baseModel, { engine, trainers, creationError: facts.creationError })
  const accepted = buildCondition(conditions.accepted, true, {
    reason: reasons.accepted,
    message: 'Its names and its source are valid.',
  })
  const available = buildCondition(conditions.workloadAvailable, engine.ready > 0, {
    reason: engine.ready > 0 ? 'EnginesAnswer' : ready.reason,
    message: `${engine.ready} of ${engine.wanted} engines and ${trainers.ready} of ${trainers.wanted} trainers are ready.`,
  })
  const details = [describeTurn(facts.turnOf), ...describeLayers(facts.untrainedLayers)]
  return {
    ...summarize(ready),
    engine: { replicas: engine.wanted, ready: engine.ready, summary: `${engine.ready}/${engine.wanted}` },
    trainers: {
      wanted: trainers.wanted,
      ready: trainers.ready,
      summary: `${trainers.ready}/${trainers.wanted}`,
      ...(failures && { lastFailure: { ...failures, message: boundMessage(failures.message) } }),
    },
    // A colocated pod is both.
    ...listDownloads([...new Set([...facts.enginePods, ...facts.trainerPods])], facts.downloads),
    ...mergeConditions(baseModel, [accepted, available, ready, ...details], facts.now),
  }
}

/** The status of a base model that is not accepted. */
export function describeRejected(baseModel: BaseModel, why: StatusReason, now: Date): BaseModelStatus {
  const inputs = [conditions.accepted, conditions.ready].map((type) => buildCondition(type, false, why))
  return { ...summarize(why), ...mergeConditions(baseModel, inputs, now) }
}

type Parts = { engine: Part; trainers: Part } & Pick<WorkloadFacts, 'creationError'>

function describeReady({ spec }: BaseModel, { engine, trainers, creationError }: Parts): ConditionInput {
  const isScaledToZero = engine.wanted === 0 && spec.engine?.autoscaling !== undefined
  const notReady = creationError
    ? explainRejectedPods({ reason: creationError.reason ?? 'Refused', message: creationError.message })
    : findReason(engine, trainers, isScaledToZero)
  const ready = isScaledToZero
    ? scaledToZero
    : { reason: reasons.ready, message: 'All engines and trainers are ready.' }
  return buildCondition(conditions.ready, notReady === undefined, notReady ?? ready)
}

const scaledToZero = { reason: reasons.scaledToZero, message: 'No engine runs. The next chat starts one and is held.' }

function findReason(engine: Part, trainers: Part, isScaledToZero: boolean): StatusReason | undefined {
  const atZero = { reason: reasons.engineAtZero, message: 'spec.engine.replicas is 0: no engine serves chats.' }
  if (engine.wanted === 0 && !isScaledToZero) return atZero
  const message = 'Its pods are not created yet.'
  if (engine.ready < engine.wanted) return engine.reason ?? { reason: reasons.engineNotReady, message }
  if (trainers.ready < trainers.wanted) return trainers.reason ?? { reason: reasons.trainerNotReady, message }
  return undefined
}

function measureEngines(facts: WorkloadFacts): Part {
  const part = measure({ pods: facts.enginePods, hash: facts.engineHash, wanted: facts.wantedEngines }, facts.downloads)
  return { ...part, reason: part.reason ?? explainDeployment(facts.deployment) }
}

/** While trainers are not ready, their reason says how the earlier ones failed. */
function measureTrainers(facts: WorkloadFacts, failures: TrainerFailures | undefined): Part {
  const part = measure(
    { pods: facts.trainerPods, hash: facts.trainerHash, wanted: facts.wantedTrainers },
    facts.downloads,
  )
  if (!failures || !part.reason || part.reason.message === failures.message) return part
  const { count, reason, message } = failures
  const before = `; before it, ${count} trainers failed one after the other, the last: ${reason}: ${message}`
  return { ...part, reason: { ...part.reason, message: part.reason.message + before } }
}

function selectCurrent(pods: Pod[], hash: string): Pod[] {
  return pods.filter((pod) => pod.metadata.labels?.[labels.specHash] === hash)
}

/** Counts only pods of the current specification: older ones are being replaced. */
function measure({ pods, hash, wanted }: Pods, downloads: Downloads): Part {
  const current = selectCurrent(pods, hash)
  const waiting = current.filter((pod) => !isReady(pod))
  return {
    wanted,
    ready: current.length - waiting.length,
    reason: waiting[0] && explainWaitingPod(waiting[0], downloads),
  }
}

/** If no pod could be created (a quota, a forbidden field), the Deployment says why. */
function explainDeployment(deployment: Deployment | undefined): StatusReason | undefined {
  const failure = deployment?.status?.conditions?.find(({ type }) => type === 'ReplicaFailure')
  if (failure?.status !== 'True') return undefined
  return explainRejectedPods({ reason: failure.reason ?? 'ReplicaFailure', message: failure.message ?? '' })
}
