import { enginePort } from '../../../crds/engine-address.ts'
import type { BaseModel } from '../../../crds/generated.ts'
import { labels } from '../../../crds/names.ts'
import type { KubeObject } from '../../../lib/kube/apply.ts'
import { engineName } from './deployment.ts'
import { hashOf } from '../pod/hash.ts'
import { describePods, ownerOf, selectPods } from '../pod/labels.ts'

/**
 * A name for the Ready engines of a base model, for tools in the cluster. Gateways choose a pod themselves, so it needs no
 * address of its own.
 */
export function buildEngineService(baseModel: BaseModel): KubeObject {
  const selector = selectPods(baseModel, 'engine')
  const ports = [{ name: 'http', port: enginePort, targetPort: 'http' }]
  return buildOwned(baseModel, { apiVersion: 'v1', kind: 'Service', spec: { clusterIP: 'None', selector, ports } })
}

/**
 * Lets drains of nodes stop one engine after the other; undefined if there are not several. With one pod missing, it would
 * let the only engine go too. Engines that do not work keep no node from being drained.
 */
export function buildDisruptionBudget(baseModel: BaseModel, replicas: number): KubeObject | undefined {
  if (replicas < 2) return undefined
  const selector = { matchLabels: selectPods(baseModel, 'engine') }
  const spec = { maxUnavailable: 1, selector, unhealthyPodEvictionPolicy: 'AlwaysAllow' }
  return buildOwned(baseModel, { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', spec })
}

function buildOwned(baseModel: BaseModel, object: { apiVersion: string; kind: string; spec: object }): KubeObject {
  const metadata = {
    name: engineName(baseModel),
    ...(baseModel.metadata.namespace !== undefined && { namespace: baseModel.metadata.namespace }),
    labels: { ...describePods(baseModel, 'engine'), [labels.specHash]: hashOf(object.spec) },
    ownerReferences: [ownerOf(baseModel)],
  }
  return { ...object, metadata }
}
