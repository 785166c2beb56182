import type { BaseModel } from '../crds/generated.ts'
import { labels } from '../crds/names.ts'
import { isReady, type Pod } from '../lib/kube/objects.ts'
import type { ObjectCache } from '../lib/kube/reflector.ts'

/** The role of a base model's pod. */
export type Component = 'engine' | 'trainer'

/**
 * Lists a base model's pods of a component, by its resource name. Includes pods of an earlier BaseModel with that name,
 * and leaves out the pods that jobs have for themselves.
 */
export function listPods(pods: ObjectCache<Pod>, baseModelCrName: string, component: Component): Pod[] {
  return pods.list().filter(({ metadata }) => {
    const found = metadata.labels ?? {}
    return (
      found[labels.baseModel] === baseModelCrName &&
      found[labels.component] === component &&
      found[labels.job] === undefined
    )
  })
}

/** Lists a base model's engine pods with an address, Ready or not, by its resource name. */
export function listEngines(pods: ObjectCache<Pod>, baseModelCrName: string): Pod[] {
  return listPods(pods, baseModelCrName, 'engine').filter(({ status }) => status?.podIP !== undefined)
}

/** Lists a base model's Ready engine pods with an address, by its resource name. */
export function listReadyEngines(pods: ObjectCache<Pod>, baseModelCrName: string): Pod[] {
  return listEngines(pods, baseModelCrName).filter(isReady)
}

/** Lists the BaseModels with a canonical name. */
export function listBaseModelsNamed(baseModels: ObjectCache<BaseModel>, canonicalName: string): BaseModel[] {
  return baseModels.list().filter(({ spec }) => spec.names[0] === canonicalName)
}

/** The resource name of the BaseModel with a canonical name, or that name if the resource is gone. */
export function findResourceName(baseModels: ObjectCache<BaseModel>, canonicalName: string): string {
  return listBaseModelsNamed(baseModels, canonicalName)[0]?.metadata.name ?? canonicalName
}

/** The name of the pod with this uid. */
export function findPodName(pods: ObjectCache<Pod>, uid: string | null): string | undefined {
  if (uid === null) return undefined
  return pods.list().find(({ metadata }) => metadata.uid === uid)?.metadata.name
}
