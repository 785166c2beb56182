import { reasons } from '../../crds/names.ts'
import { leaseSeconds } from '../../db/jobs/attempts.ts'
import type { Verdict } from '../../db/jobs/lost-attempts.ts'
import type { Pod } from '../../lib/kube/objects.ts'
import { explainPod } from '../base-model/pod/reason.ts'

// A node that is silent for 40 s is NotReady, and its pods are a few seconds later. After this time, the node is there.
const nodeSeconds = 75
// How long before its lease expired a container may have ended that lost it.
const recentSeconds = leaseSeconds + 60

/**
 * Why the trainer in a pod was lost: undefined while that is not known. What happens to a node or to a whole pod is not
 * the job's fault. A container that ended, or that hangs while its node is there, counts as a try.
 */
export function explainLostTrainer(pod: Pod | undefined, lostSeconds: number, now: Date): Verdict | undefined {
  if (!pod) return free(reasons.podDeleted, 'The pod of its trainer was deleted.')
  const { reason, message } = explainPod(pod)
  if (isDisrupted(pod)) return free(pod.status?.reason ?? reason, message)
  if (isTarget(pod)) return free(reason === 'Terminating' ? reasons.evicted : reason, message)
  if (pod.metadata.deletionTimestamp !== undefined) return free(reasons.podDeleted, message)
  if (isNodeSilent(pod)) return free(reasons.nodeFailure, `The node of pod ${pod.metadata.name} does not answer.`)
  const since = now.getTime() - (lostSeconds + recentSeconds) * 1000
  if (hasEndedSince(pod, since)) {
    return { counts: true, reason: reason === 'OOMKilled' ? reason : reasons.trainerLost, message: explainEnd(message) }
  }
  return lostSeconds > nodeSeconds ? { counts: true, reason: reasons.trainerLost, message: silent } : undefined
}

const silent = "The trainer runs, but has stopped to report. See its pod's log."

function explainEnd(message: string): string {
  return `The trainer ended without a report: ${message}`
}

function free(reason: string, message: string): Verdict {
  return { counts: false, reason, message }
}

/** The kubelet or the node has ended the whole pod. */
function isDisrupted({ status }: Pod): boolean {
  return status?.phase === 'Failed' && status.reason !== undefined
}

/** Kubernetes ends the pod: an eviction, a preemption, or a lost node. */
function isTarget({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: holds }) => type === 'DisruptionTarget' && holds === 'True') === true
}

/** If a node is silent, its pods are set to not Ready without a reason. A kubelet always gives one. */
export function isNodeSilent({ status }: Pod): boolean {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  return ready !== undefined && ready.status !== 'True' && ready.reason === undefined
}

/** Whether a container of the pod has ended since a time. */
export function hasEndedSince({ status }: Pod, sinceMs: number): boolean {
  const ends = (status?.containerStatuses ?? []).flatMap(({ state, lastState }) => [
    state?.terminated?.finishedAt,
    lastState?.terminated?.finishedAt,
  ])
  return ends.some((end) => end !== undefined && Date.parse(end) >= sinceMs)
}
