import { annotations, labels } from '../../../crds/names.ts'
import { isReady, type Deployment, type Pod } from '../../../lib/kube/objects.ts'

// A cluster that adds nodes by itself has added one by then, or will not.
const surgeMs = 60_000
// An engine that is not Ready by then does not hold up the others. Loading a large model takes that long.
const maxRolloutMs = 30 * 60_000
// In this time, the watch has seen a change of ours.
const seenMs = 10_000

/** How Kubernetes replaces the pods of a Deployment. */
export interface RollingUpdate {
  maxSurge: number
  maxUnavailable: number
}

/** The observed engines of a base model. */
export interface RolloutFacts {
  replicas: number
  deployment: Deployment | undefined
  pods: Pod[]
  /** The hash of the current specification. */
  hash: string
  now: Date
}

const oneByOne: RollingUpdate = { maxSurge: 0, maxUnavailable: 1 }
const oneMore: RollingUpdate = { maxSurge: 1, maxUnavailable: 0 }

/**
 * Plans how engines are replaced. Of several, one after the other. A single one gets its successor beside it, which may
 * need another GPU. If there is none for the successor, the old engine makes room, and gateways hold requests.
 */
export function planRollingUpdate({ replicas, deployment, pods, hash, now }: RolloutFacts): RollingUpdate {
  if (replicas > 1) return oneByOne
  const successors = pods.filter((pod) => pod.metadata.labels?.[labels.specHash] === hash)
  const isStuck = successors.some((pod) => hasWaited(pod.status?.conditions, unscheduled, now))
  const isRejected =
    successors.length === 0 &&
    hasWaited(deployment?.status?.conditions, rejected, now) &&
    templateHash(deployment) === hash
  return isStuck || isRejected ? oneByOne : oneMore
}

type Condition = { type: string; status: string; lastTransitionTime?: string }

const unscheduled = { type: 'PodScheduled', status: 'False' }
const rejected = { type: 'ReplicaFailure', status: 'True' }

/** Whether a condition has been so for longer than a successor may wait. */
function hasWaited(conditions: Condition[] = [], { type, status }: Condition, now: Date): boolean {
  const found = conditions.find((condition) => condition.type === type && condition.status === status)
  return found !== undefined && now.getTime() - Date.parse(found.lastTransitionTime ?? '') >= surgeMs
}

/** The hash of the pods that a Deployment makes. */
export function templateHash(deployment: Deployment | undefined): string | undefined {
  return deployment?.spec?.template?.metadata?.labels?.[labels.specHash]
}

/** Whether the engines of a base model are being replaced: they were told to a short time ago, and are not all Ready. */
export function isRollingOut({ deployment, pods, now }: Pick<RolloutFacts, 'deployment' | 'pods' | 'now'>): boolean {
  const hash = templateHash(deployment)
  const ready = pods.filter((pod) => pod.metadata.labels?.[labels.specHash] === hash && isReady(pod)).length
  if (ready >= (deployment?.spec?.replicas ?? 0)) return false
  const startedMs = Date.parse(deployment?.metadata.annotations?.[annotations.rolledOutAt] ?? '')
  return now.getTime() - startedMs < maxRolloutMs
}

/**
 * Lets one base model after the other replace its engines, when a change of the operator's settings concerns all of
 * them.
 */
export class RolloutTurns {
  /** Who began last. The watch may not have seen it yet. */
  #latest: { name: string; atMs: number } | undefined

  /**
   * Begins the turn of a base model, or returns the one whose turn it is.
   *
   * @param rollingOut another base model whose engines are being replaced, as far as the watch has seen
   */
  begin(name: string, rollingOut: string | undefined): string | undefined {
    const nowMs = performance.now()
    const latest = this.#latest && nowMs - this.#latest.atMs < seenMs ? this.#latest.name : undefined
    const turnOf = rollingOut ?? (latest === name ? undefined : latest)
    if (turnOf === undefined) this.#latest = { name, atMs: nowMs }
    return turnOf
  }
}
