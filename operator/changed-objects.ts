// What of a changed object matters for the keys that it adds.

import { isDeepStrictEqual } from 'node:util'
import type { BaseModel, Model, TrainingJob } from '../crds/generated.ts'
import { conditions, labels } from '../crds/names.ts'
import type { KubeObject } from '../lib/kube/apply.ts'
import { isReady, type Pod } from '../lib/kube/objects.ts'
import { findEngineContainer } from './adapters/engine-container.ts'

export function isEngine({ metadata }: KubeObject): boolean {
  return metadata.labels?.[labels.component] === 'engine'
}

/** Whether nothing but the status of a resource has changed. */
export function isStatusChange(object: KubeObject, before: KubeObject | undefined): boolean {
  return before !== undefined && isDeepStrictEqual(pickWanted(object), pickWanted(before))
}

/** What the status of its models depends on, besides its engines. */
export function pickServed({ metadata, status }: KubeObject & Pick<BaseModel, 'status'>) {
  const accepted = status?.conditions?.find(({ type }) => type === conditions.accepted)
  return { uid: metadata.uid, accepted: accepted?.status, reason: status?.reason }
}

/** What the status of models depends on. */
export function pickServing(pod: Pod) {
  return { isReady: isReady(pod), container: findEngineContainer(pod) }
}

/** What a resource's owner sets. Each change of its spec has a new generation. */
function pickWanted({ metadata }: KubeObject) {
  const { uid, generation, deletionTimestamp, labels: ownLabels, finalizers } = metadata
  return { uid, generation, deletionTimestamp, ownLabels, finalizers }
}

/**
 * Sorts the oldest first. Times have whole seconds. Within a second, the resource version orders objects that were not
 * changed since their creation.
 */
export function sortByAge<T extends BaseModel | Model | TrainingJob>(resources: T[]): T[] {
  const key = ({ metadata }: T) => [Date.parse(metadata.creationTimestamp ?? ''), Number(metadata.resourceVersion)]
  return resources.toSorted((a, b) => {
    const [[timeA = 0, versionA = 0], [timeB = 0, versionB = 0]] = [key(a), key(b)]
    return timeA - timeB || versionA - versionB
  })
}
