import type { BaseModel } from '../crds/generated.ts'
import { labels } from '../crds/names.ts'
import { isReady, type Pod } from '../lib/kube/objects.ts'
import type { ObjectCache } from '../lib/kube/reflector.ts'

/** What the pods of a base model do. */
export type Component = 'engine' | 'trainer'

/** The pods of a component of a base model (by its resource name); those of an earlier BaseModel of the same name too. */
export function listPods(pods: ObjectCache<Pod>, baseModelCrName: string, component: Component): Pod[] {
  return pods.list().filter(({ metadata }) => {
    const found = metadata.labels ?? {}
    return found[labels.baseModel] === baseModelCrName && found[labels.component] === component
  })
}

/** The engine pods of a base model (by its resource name) that have an address, Ready or not. */
export function listEngines(pods: ObjectCache<Pod>, baseModelCrName: string): Pod[] {
  return listPods(pods, baseModelCrName, 'engine').filter(({ status }) => status?.podIP !== undefined)
}

/** The engine pods of a base model (by its resource name) that are Ready and have an address. */
export function listReadyEngines(pods: ObjectCache<Pod>, baseModelCrName: string): Pod[] {
  return listEngines(pods, baseModelCrName).filter(isReady)
}

/** The BaseModels of a canonical name. */
export function listBaseModelsNamed(baseModels: ObjectCache<BaseModel>, canonicalName: string): BaseModel[] {
  return baseModels.list().filter(({ spec }) => spec.names[0] === canonicalName)
}

/** The name of the pod with this uid. */
export function findPodName(pods: ObjectCache<Pod>, uid: string | null): string | undefined {
  if (uid === null) return undefined
  return pods.list().find(({ metadata }) => metadata.uid === uid)?.metadata.name
}
