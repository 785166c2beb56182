import type { ContainerStatus, Pod } from '../../lib/kube/objects.ts'
import type { StatusReason } from '../conditions.ts'

const startingReasons = new Set(['ContainerCreating', 'PodInitializing'])

const startReasons = { terminating: 'Terminating', pending: 'PodPending', notReady: 'NotReadyYet' }

/** Whether a pod with this reason only needs time. */
export function isStarting({ reason }: StatusReason): boolean {
  return Object.values(startReasons).includes(reason)
}

/** Why a pod is not Ready, from its status. */
export function explainPod(pod: Pod): StatusReason {
  const name = pod.metadata.name ?? ''
  if (pod.metadata.deletionTimestamp !== undefined) return describePod(startReasons.terminating, name, 'is being ended')
  const { phase, reason, message } = pod.status ?? {}
  if (phase === 'Failed') return describePod(reason ?? 'PodFailed', name, message ?? 'failed')
  const scheduled = pod.status?.conditions?.find((condition) => condition.type === 'PodScheduled')
  if (scheduled?.status === 'False') return describePod(nameUnschedulable(scheduled), name, scheduled.message ?? '')
  return explainContainers(pod, name) ?? explainStart(pod, name)
}

function explainContainers(pod: Pod, name: string): StatusReason | undefined {
  for (const container of pod.status?.containerStatuses ?? []) {
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
    return { reason: waiting.reason, message: waiting.message ?? '' }
  }
  if (!ended || (!waiting && !state?.terminated)) return undefined
  const why = `its process ended with exit code ${ended.exitCode} (restarts: ${restartCount})`
  const reason = ended.reason === 'OOMKilled' ? 'OOMKilled' : (waiting?.reason ?? ended.reason ?? 'ContainerEnded')
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
