import { labels } from '../../../crds/names.ts'
import type { Pod } from '../../../lib/kube/objects.ts'
import { countFailures, findReplacementMs, isDead, type TrainerFailures } from './failed-trainers.ts'

/** The observed and the wanted trainers of a base model. */
export interface TrainerFacts {
  baseModelName: string
  /** All existing trainer pods of the base model, terminating ones too. */
  pods: Pod[]
  /** The uids of pods that train a job now. */
  busyPods: ReadonlySet<string>
  wanted: number
  /** The hash of the current specification. */
  hash: string
  now: Date
}

export type TrainerAction =
  | { do: 'create'; name: string; reason: string; failures?: TrainerFailures }
  | { do: 'delete'; name: string; uid: string; reason: string }

/** Why a trainer is deleted that has the current specification. */
export const unwanted = 'there are more trainers than wanted'

// A dead node confirms no deletion. Its pods are replaced after this time.
const lostAfterMs = 60_000

/** What to do with trainer pods, and the uids of those that get no more jobs. */
export interface TrainerPlan {
  actions: TrainerAction[]
  draining: string[]
  /** When the place of a dead pod is taken again. */
  requeueAfterMs?: number
}

/**
 * Plans the trainer pods. Pods of an old specification are deleted when they are idle. New pods are created only when
 * the old ones are gone, because each may hold a GPU. A pod that will be deleted gets no more jobs: with several jobs it
 * might never become idle. A dead pod holds no GPU. It is replaced after a time that grows with each failure.
 */
export function planTrainers(facts: TrainerFacts): TrainerPlan {
  const present = facts.pods.filter((pod) => !isTerminating(pod))
  const kept = pickKept(present, facts)
  const dead = pickDead(present, facts, facts.wanted - kept.length)
  const draining = facts.pods.filter((pod) => !kept.includes(pod))
  const deletions = draining
    .filter((pod) => !isTerminating(pod) && !awaitsReplacement(pod, dead) && (isDead(pod) || !isBusy(pod, facts)))
    .map((pod) => ({ do: 'delete' as const, ...toReference(pod), reason: explainDeletion(pod, facts) }))
  const waits = dead.resting.map((pod) => findReplacementMs(pod) - facts.now.getTime())
  return {
    actions: [...deletions, ...planCreations(facts, dead)],
    draining: draining.map((pod) => toReference(pod).uid),
    ...(waits.length > 0 && { requeueAfterMs: Math.min(...waits) }),
  }
}

/** A dead pod goes when the one in its place is there: until then, it says how many have failed. */
function awaitsReplacement(pod: Pod, { resting, due }: DeadPods): boolean {
  return resting.includes(pod) || due.includes(pod)
}

interface DeadPods {
  /** Their replacements wait for now. */
  resting: Pod[]
  /** They are replaced. */
  due: Pod[]
}

/** Picks the dead pods of the current specification that have a place. The others are only deleted. */
function pickDead(present: Pod[], facts: TrainerFacts, maxCount: number): DeadPods {
  const dead = present
    .filter((pod) => isDead(pod) && isCurrent(pod, facts))
    .toSorted((a, b) => findReplacementMs(b) - findReplacementMs(a))
    .slice(0, Math.max(0, maxCount))
  const isResting = (pod: Pod) => findReplacementMs(pod) > facts.now.getTime()
  return { resting: dead.filter(isResting), due: dead.filter((pod) => !isResting(pod)) }
}

/** Keeps the wanted number of pods of the current specification, busy ones first. */
function pickKept(present: Pod[], facts: TrainerFacts): Pod[] {
  return present
    .filter((pod) => !isDead(pod) && isCurrent(pod, facts))
    .toSorted((a, b) => compareText(a.metadata.name, b.metadata.name))
    .toSorted((a, b) => Number(isBusy(b, facts)) - Number(isBusy(a, facts)))
    .slice(0, facts.wanted)
}

function explainDeletion(pod: Pod, facts: TrainerFacts): string {
  if (isDead(pod)) return `the pod is ${pod.status?.phase}`
  return isCurrent(pod, facts) ? unwanted : 'its specification is out of date'
}

function planCreations(facts: TrainerFacts, { resting, due }: DeadPods): TrainerAction[] {
  const present = facts.pods.filter((pod) => !isLost(pod, facts.now) && !isDead(pod)).length + resting.length
  const names = new Set(facts.pods.map((pod) => pod.metadata.name))
  const actions: TrainerAction[] = []
  for (let n = 0; present + actions.length < facts.wanted; n++) {
    const name = `${facts.baseModelName}-trainer-${facts.hash}-${n}`
    if (names.has(name)) continue
    const failed = due[actions.length]
    const reason = 'fewer trainers than wanted'
    actions.push({ do: 'create', name, reason, ...(failed && { failures: countFailures(failed) }) })
  }
  return actions
}

function isCurrent(pod: Pod, { hash }: TrainerFacts): boolean {
  return pod.metadata.labels?.[labels.specHash] === hash
}

function isBusy(pod: Pod, { busyPods }: TrainerFacts): boolean {
  return busyPods.has(pod.metadata.uid ?? '')
}

function isTerminating(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp !== undefined
}

function isLost(pod: Pod, now: Date): boolean {
  const { deletionTimestamp } = pod.metadata
  return deletionTimestamp !== undefined && now.getTime() - Date.parse(deletionTimestamp) > lostAfterMs
}

function toReference(pod: Pod): { name: string; uid: string } {
  return { name: pod.metadata.name ?? '', uid: pod.metadata.uid ?? '' }
}

function compareText(a = '', b = ''): number {
  return a < b ? -1 : Number(a > b)
}
