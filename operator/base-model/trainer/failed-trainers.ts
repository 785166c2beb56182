import { annotations } from '../../../crds/names.ts'
import { backoffMs } from '../../../lib/backoff.ts'
import type { Pod } from '../../../lib/kube/objects.ts'
import { explainPod } from '../pod/reason.ts'

/** Trainers that failed soon after their creation, one after the other. */
export interface TrainerFailures {
  count: number
  /** Of the last one. */
  reason: string
  message: string
}

const backoff = { baseMs: 1_000, maxMs: 300_000, jitter: 0 }
const maxAnnotation = 1_000

/** A dead pod stays until its place is taken again, so that people see why it failed. */
export function isDead(pod: Pod): boolean {
  return pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded'
}

/** When the place of a dead pod is taken again: after 1 s, and after twice as long with each failure, up to 5 min. */
export function findReplacementMs(pod: Pod): number {
  return findDeathMs(pod) + backoffMs(countFailures(pod).count, backoff)
}

/** The failures up to a dead pod. One that lived for longer than the longest wait is the first. */
export function countFailures(pod: Pod): TrainerFailures {
  const livedMs = findDeathMs(pod) - Date.parse(pod.metadata.creationTimestamp ?? '')
  const earlier = livedMs > backoff.maxMs ? 0 : (readFailures(pod)?.count ?? 0)
  return { count: earlier + 1, ...explainPod(pod) }
}

/** The failures before a pod that took the place of a dead one. */
export function readFailures({ metadata }: Pod): TrainerFailures | undefined {
  const found = metadata.annotations ?? {}
  const count = Number(found[annotations.failures])
  if (!Number.isSafeInteger(count) || count < 1) return undefined
  return { count, reason: found[annotations.failureReason] ?? '', message: found[annotations.failureMessage] ?? '' }
}

/** The annotations of a pod that takes the place of a dead one. */
export function describeFailures({ count, reason, message }: TrainerFailures): Record<string, string> {
  return {
    [annotations.failures]: String(count),
    [annotations.failureReason]: reason.slice(0, maxAnnotation),
    [annotations.failureMessage]: message.slice(0, maxAnnotation),
  }
}

/** The worst failures of a base model's trainers, of dead ones and of those in their places. */
export function findFailures(pods: Pod[]): TrainerFailures | undefined {
  return pods
    .flatMap((pod) => (isDead(pod) ? countFailures(pod) : (readFailures(pod) ?? [])))
    .toSorted((a, b) => b.count - a.count)[0]
}

/** A node that does not accept a pod starts no container. Kubernetes' times have whole seconds. */
function findDeathMs({ metadata, status }: Pod): number {
  const ends = (status?.containerStatuses ?? []).map(({ state }) => state?.terminated?.finishedAt)
  const times = [metadata.creationTimestamp, status?.startTime, ...ends].map((time) => Date.parse(time ?? ''))
  return Math.max(...times.filter((time) => !Number.isNaN(time)), 0)
}
