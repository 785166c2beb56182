import type { ContainerStatus, Pod } from '../../../lib/kube/objects.ts'
import type { StatusReason } from '../../conditions.ts'

const startingReasons = new Set(['ContainerCreating', 'PodInitializing'])

const startReasons = { terminating: 'Terminating', pending: 'PodPending', notReady: 'NotReadyYet' }

/** Whether a pod with this reason only needs time. */
export function isStarting({ reason }: StatusReason): boolean {
  return Object.values(startReasons).includes(reason)
}

// A kubelet alternates between the first attempt's reason and that of the wait after it.
const waitingReasons: Record<string, string> = {
  ErrImagePull: 'ImagePullBackOff',
  CreateContainerConfigError: 'MissingSecretOrConfig',
}

// Why Kubernetes ended a pod (its condition DisruptionTarget, or the reason of a failed pod), and what that means.
const disruptions: Record<string, string> = {
  PreemptionByScheduler: 'Preempted',
  Preempting: 'Preempted',
  DeletionByTaintManager: 'NodeFailure',
  DeletionByPodGC: 'NodeFailure',
  NodeLost: 'NodeFailure',
  NodeShutdown: 'NodeFailure',
  Terminated: 'NodeFailure',
}

/** Why a pod is not Ready, from its status. */
export function explainPod(pod: Pod): StatusReason {
  const name = pod.metadata.name ?? ''
  const disruption = explainDisruption(pod, name)
  if (disruption) return disruption
  if (pod.metadata.deletionTimestamp !== undefined) return describePod(startReasons.terminating, name, 'is being ended')
  const { phase, reason, message } = pod.status ?? {}
  if (phase === 'Failed') return explainFailed(pod) ?? describePod(reason ?? 'PodFailed', name, message ?? 'failed')
  const scheduled = pod.status?.conditions?.find((condition) => condition.type === 'PodScheduled')
  if (scheduled?.status === 'False') return describePod(nameUnschedulable(scheduled), name, scheduled.message ?? '')
  return explainContainers(pod, name) ?? explainStart(pod, name)
}

/** A pod that made room for another, or whose node is gone. Neither is a fault of the pod. */
function explainDisruption({ status }: Pod, name: string): StatusReason | undefined {
  const target = status?.conditions?.find(({ type }) => type === 'DisruptionTarget')
  const causes = [...(target?.status === 'True' ? [target] : []), { reason: status?.reason, message: status?.message }]
  const cause = causes.find(({ reason }) => reason !== undefined && disruptions[reason] !== undefined)
  if (cause?.reason === undefined) return undefined
  return describePod(disruptions[cause.reason] ?? cause.reason, name, cause.message ?? cause.reason)
}

/** A pod that failed because of one container has no reason of its own. */
function explainFailed(pod: Pod): StatusReason | undefined {
  return pod.status?.reason === undefined ? explainContainers(pod, pod.metadata.name ?? '') : undefined
}

function explainContainers(pod: Pod, name: string): StatusReason | undefined {
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {}
  const preparing = initContainerStatuses.filter(({ state }) => state?.terminated?.exitCode !== 0)
  for (const container of [...preparing, ...containerStatuses]) {
    const found = explainOwnFailure(container) ?? explainContainer(container)
    if (found) return describePod(found.reason, name, found.message)
  }
  return undefined
}

// Engines and trainers that cannot begin end with such a line.
const ownReason = /^trainyard_(?:engine|trainer): ([A-Z][A-Za-z]{2,60}): (.+)$/gm

/** While a container runs again, the reason of its last end still holds. */
function explainOwnFailure({ state, lastState, restartCount }: ContainerStatus): StatusReason | undefined {
  const message = (state?.terminated ?? lastState?.terminated)?.message ?? ''
  const [, reason = '', why = ''] = [...message.matchAll(ownReason)].at(-1) ?? []
  return reason === '' ? undefined : { reason, message: `${why} (restarts: ${restartCount})` }
}

function explainContainer({ state, lastState, restartCount }: ContainerStatus): StatusReason | undefined {
  const waiting = state?.waiting
  const ended = state?.terminated ?? lastState?.terminated
  if (waiting?.reason && !startingReasons.has(waiting.reason) && waiting.reason !== 'CrashLoopBackOff') {
    return { reason: waitingReasons[waiting.reason] ?? waiting.reason, message: waiting.message ?? '' }
  }
  if (!ended) return undefined
  const isOutOfMemory = ended.reason === 'OOMKilled'
  // One that runs again is starting, but one that had too little memory probably has too little again.
  if (!waiting && !state?.terminated && !isOutOfMemory) return undefined
  const why = `its process ended with exit code ${ended.exitCode} (restarts: ${restartCount})`
  const reason = isOutOfMemory ? 'OOMKilled' : (waiting?.reason ?? ended.reason ?? 'ContainerEnded')
  return { reason, message: ended.message ? `${why}: ${ended.message.slice(-500)}` : why }
}

function explainStart(pod: Pod, name: string): StatusReason {
  if (pod.status?.phase !== 'Running') return describePod(startReasons.pending, name, 'waits for its node to start it')
  return describePod(startReasons.notReady, name, 'is running but not ready yet')
}

function nameUnschedulable({ reason, message = '' }: { reason?: string; message?: string }): string {
  return /insufficient [a-z.]*\/gpu/i.test(message) ? 'InsufficientGPU' : (reason ?? 'Unschedulable')
}

function describePod(reason: string, pod: string, message: string): StatusReason {
  return { reason, message: `pod ${pod}: ${message}` }
}
