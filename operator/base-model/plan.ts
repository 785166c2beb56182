import { labels } from '../../crds/names.ts'
import type { Pod } from '../../lib/kube/objects.ts'

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

/** What to do about trainers, and which of them get no more jobs (by the uids of their pods). */
export interface TrainerPlan {
  actions: TrainerAction[]
  draining: string[]
}

/**
 * What to do with the trainer pods: those of an old specification go when they are idle, dead ones go, and new ones come
 * only as far as old ones are really gone, because each may hold a GPU. Who is to go gets no more jobs: one that works on
 * several might never be idle.
 */
export function planTrainers(facts: TrainerFacts): TrainerPlan {
  const present = facts.pods.filter((pod) => !isTerminating(pod))
  const kept = pickKept(present, facts)
  const doomed = present.filter((pod) => !kept.includes(pod) && (isDead(pod) || !isBusy(pod, facts)))
  const removals = doomed.map((pod) => ({ do: 'delete' as const, ...identify(pod), reason: describeFault(pod, facts) }))
  const leaving = facts.pods.filter((pod) => !kept.includes(pod))
  return { actions: [...removals, ...planCreations(facts)], draining: leaving.map((pod) => identify(pod).uid) }
}

/** As many as are wanted of those that work by the current specification: the busy ones first. */
function pickKept(present: Pod[], facts: TrainerFacts): Pod[] {
  return present
    .filter((pod) => !isDead(pod) && isCurrent(pod, facts))
    .toSorted((a, b) => compareText(a.metadata.name, b.metadata.name))
    .toSorted((a, b) => Number(isBusy(b, facts)) - Number(isBusy(a, facts)))
    .slice(0, facts.wanted)
}

function describeFault(pod: Pod, facts: TrainerFacts): string {
  if (isDead(pod)) return `the pod is ${pod.status?.phase}`
  return isCurrent(pod, facts) ? 'there are more trainers than wanted' : 'its specification is not the current one'
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
