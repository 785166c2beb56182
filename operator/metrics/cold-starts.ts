import { labels } from '../../crds/names.ts'
import { isReady, uidOf, type Pod } from '../../lib/kube/objects.ts'
import type { ObjectCache } from '../../lib/kube/reflector.ts'
import type { OperatorEvents } from './events.ts'

/** Measures how long engine pods take from their creation to the first time that they are Ready. */
export class ColdStarts {
  readonly #pods: ObjectCache<Pod>
  readonly #events: OperatorEvents
  /** The uids of pods that were measured and still exist. */
  #measured = new Set<string>()

  constructor(pods: ObjectCache<Pod>, events: OperatorEvents) {
    this.#pods = pods
    this.#events = events
  }

  /** Call it with each changed pod. A pod that was Ready when the watch began is not measured. */
  observe(pod: Pod, before: Pod | undefined): void {
    const found = pod.metadata.labels ?? {}
    const baseModel = found[labels.baseModel]
    if (baseModel === undefined || found[labels.component] !== 'engine') return
    if (!before || isReady(before) || !isReady(pod) || this.#measured.has(uidOf(pod))) return
    const present = new Set(this.#pods.list().map(uidOf))
    this.#measured = new Set([...this.#measured, uidOf(pod)].filter((uid) => present.has(uid)))
    const seconds = measureSeconds(pod)
    if (seconds !== undefined) this.#events.recordColdStart(baseModel, seconds)
  }
}

/** Undefined for a pod whose container has restarted: it may have been Ready before. */
function measureSeconds({ metadata, status }: Pod): number | undefined {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  const hasRestarted = status?.containerStatuses?.some(({ restartCount }) => restartCount > 0) ?? false
  const seconds = (Date.parse(ready?.lastTransitionTime ?? '') - Date.parse(metadata.creationTimestamp ?? '')) / 1000
  return hasRestarted || Number.isNaN(seconds) ? undefined : seconds
}
