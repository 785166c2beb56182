import type { BaseModel } from '../../crds/generated.ts'
import { apiVersion, labels, madeFromValues } from '../../crds/names.ts'
import type { KubeObject } from '../../lib/kube/apply.ts'
import type { ConfigMap } from '../../lib/kube/objects.ts'

/** What is done so that the BaseModels of the chart's values exist, and no earlier ones. */
export interface ValuesPlan {
  apply: KubeObject[]
  remove: BaseModel[]
}

/** Plans the BaseModels of a ConfigMap whose keys are their names, and whose values are their specs as JSON. */
export function planValues(values: ConfigMap, baseModels: readonly BaseModel[]): ValuesPlan {
  const specs = values.data ?? {}
  const isRemoved = ({ metadata }: BaseModel) =>
    metadata.labels?.[labels.madeFrom] === madeFromValues && specs[metadata.name ?? ''] === undefined
  return {
    apply: Object.entries(specs).map(([name, spec]) => buildBaseModel(values, name, spec)),
    remove: baseModels.filter(isRemoved),
  }
}

/** Kubernetes deletes the BaseModels of a deleted ConfigMap: that is an uninstallation of the chart. */
function buildBaseModel({ metadata }: ConfigMap, name: string, spec: string) {
  const { namespace = '', uid = '' } = metadata
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: metadata.name, uid }]
  return {
    apiVersion,
    kind: 'BaseModel',
    metadata: { name, namespace, labels: { [labels.madeFrom]: madeFromValues }, ownerReferences },
    spec: JSON.parse(spec) as object,
  }
}
