import { labels } from '../../crds/names.ts'
import type { Pod } from '../kube/objects.ts'

/** What there is and what is wanted of a base model's trainers. */
export interface TrainerFacts {
  baseModelName: string
  /** all trainer pods of the base model that exist, terminating ones too */
  pods: Pod[]
  /** uids of pods that train a job now */
  busyPods: ReadonlySet<string>
  wanted: number
  /** of the specification that trainers should have now */
  hash: string
  now: Date
}

export type TrainerAction =
  | { do: 'create'; name: string; reason: string }
  | { do: 'delete'; name: string; uid: string; reason: string }

// A node that died confirms no deletion; what it held is replaced after this time.
const lostAfterMs = 60_000

/**
 * What to do with the trainer pods: those of an old specification go when they are idle, dead ones go, and new ones come
 * only as far as old ones are really gone, because each may hold a GPU.
 */
export function planTrainers(facts: TrainerFacts): TrainerAction[] {
  const doomed = new Map<Pod, string>()
  for (const pod of facts.pods.filter((each) => !isTerminating(each))) {
    const reason = findFault(pod, facts)
    if (reason !== undefined) doomed.set(pod, reason)
  }
  const kept = facts.pods.filter((pod) => !isTerminating(pod) && !doomed.has(pod) && isCurrent(pod, facts))
  for (const pod of pickSurplus(kept, facts)) doomed.set(pod, 'there are more trainers than wanted')
  return [
    ...[...doomed].map(([pod, reason]) => ({ do: 'delete' as const, ...identify(pod), reason })),
    ...planCreations(facts),
  ]
}

function findFault(pod: Pod, facts: TrainerFacts): string | undefined {
  if (isDead(pod)) return `the pod is ${pod.status?.phase}`
  if (!isCurrent(pod, facts) && !isBusy(pod, facts)) return 'its specification is not the current one'
  return undefined
}

function pickSurplus(kept: Pod[], facts: TrainerFacts): Pod[] {
  const surplus = kept.length - facts.wanted
  if (surplus <= 0) return []
  return kept
    .filter((pod) => !isBusy(pod, facts))
    .toSorted((a, b) => compareText(b.metadata.name, a.metadata.name))
    .slice(0, surplus)
}

function planCreations(facts: TrainerFacts): TrainerAction[] {
  const present = facts.pods.filter((pod) => !isLost(pod, facts.now)).length
  const taken = new Set(facts.pods.map((pod) => pod.metadata.name))
  const actions: TrainerAction[] = []
  for (let n = 0; present + actions.length < facts.wanted; n++) {
    const name = `${facts.baseModelName}-trainer-${facts.hash}-${n}`
    if (!taken.has(name)) actions.push({ do: 'create', name, reason: 'fewer trainers than wanted' })
  }
  return actions
}

function isCurrent(pod: Pod, { hash }: TrainerFacts): boolean {
  return pod.metadata.labels?.[labels.specHash] === hash
}

function isBusy(pod: Pod, { busyPods }: TrainerFacts): boolean {
  return busyPods.has(pod.metadata.uid ?? '')
}

function isDead(pod: Pod): boolean {
  return pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded'
}

function isTerminating(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp !== undefined
}

function isLost(pod: Pod, now: Date): boolean {
  const { deletionTimestamp } = pod.metadata
  return deletionTimestamp !== undefined && now.getTime() - Date.parse(deletionTimestamp) > lostAfterMs
}

function identify(pod: Pod): { name: string; uid: string } {
  return { name: pod.metadata.name ?? '', uid: pod.metadata.uid ?? '' }
}

function compareText(a = '', b = ''): number {
  return a < b ? -1 : Number(a > b)
}
