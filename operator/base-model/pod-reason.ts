import type { ContainerStatus, Pod } from '../../lib/kube/objects.ts'

/** Why a pod is not Ready, in a word and a sentence. */
export interface PodReason {
  reason: string
  message: string
}

const ordinary = new Set(['ContainerCreating', 'PodInitializing'])

/** What keeps a pod from being Ready, as far as its status tells. */
export function explainPod(pod: Pod): PodReason {
  const name = pod.metadata.name ?? ''
  if (pod.metadata.deletionTimestamp !== undefined) return say('Terminating', name, 'is being ended')
  const { phase, reason, message } = pod.status ?? {}
  if (phase === 'Failed') return say(reason ?? 'PodFailed', name, message ?? 'failed')
  const scheduled = pod.status?.conditions?.find((condition) => condition.type === 'PodScheduled')
  if (scheduled?.status === 'False') return say(nameUnschedulable(scheduled), name, scheduled.message ?? '')
  return explainContainers(pod, name) ?? explainStart(pod, name)
}

function explainContainers(pod: Pod, name: string): PodReason | undefined {
  for (const container of pod.status?.containerStatuses ?? []) {
    const said = explainContainer(container)
    if (said) return say(said.reason, name, said.message)
  }
  return undefined
}

function explainContainer({ state, lastState, restartCount }: ContainerStatus): PodReason | undefined {
  const waiting = state?.waiting
  const ended = state?.terminated ?? lastState?.terminated
  if (waiting?.reason && !ordinary.has(waiting.reason) && waiting.reason !== 'CrashLoopBackOff') {
    return { reason: waiting.reason, message: waiting.message ?? '' }
  }
  if (!ended || (!waiting && !state?.terminated)) return undefined
  const why = `its process ended with exit code ${ended.exitCode} (restarts: ${restartCount})`
  const reason = ended.reason === 'OOMKilled' ? 'OOMKilled' : (waiting?.reason ?? ended.reason ?? 'ContainerEnded')
  return { reason, message: ended.message ? `${why}: ${ended.message.slice(-500)}` : why }
}

function explainStart(pod: Pod, name: string): PodReason {
  if (pod.status?.phase !== 'Running') return say('PodPending', name, 'waits to be started by its node')
  return say('NotReadyYet', name, 'runs and does not answer as ready yet')
}

function nameUnschedulable({ reason, message = '' }: { reason?: string; message?: string }): string {
  return /insufficient [a-z.]*\/gpu/i.test(message) ? 'InsufficientGPU' : (reason ?? 'Unschedulable')
}

function say(reason: string, pod: string, message: string): PodReason {
  return { reason, message: `pod ${pod}: ${message}` }
}
