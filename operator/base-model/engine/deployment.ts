import type { BaseModel } from '../../../crds/generated.ts'
import { annotations, labels } from '../../../crds/names.ts'
import type { Deployment } from '../../../lib/kube/objects.ts'
import type { PodSettings } from '../pod/common.ts'
import { hashOf } from '../pod/hash.ts'
import { describePods, ownerOf, selectPods } from '../pod/labels.ts'
import { overlayMetadata } from '../pod/template.ts'
import { buildEnginePodSpec, engineHash } from './pod.ts'
import type { RollingUpdate } from './rollout.ts'

/** How many engines there are, how they are replaced, and when they were last told to be replaced. */
export interface EngineRollout {
  replicas: number
  rollingUpdate: RollingUpdate
  rolledOutAt: string
}

/** The Deployment of a base model's vLLM engines. Its pod template has its hash as a label. */
export function buildEngineDeployment(
  baseModel: BaseModel,
  settings: PodSettings,
  { rolledOutAt, ...rollout }: EngineRollout,
): Deployment {
  const spec = buildEnginePodSpec(baseModel, settings)
  const hash = engineHash(baseModel, settings)
  const podLabels = { ...describePods(baseModel, 'engine'), [labels.specHash]: hash }
  const selector = selectPods(baseModel, 'engine')
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: engineName(baseModel),
      namespace: baseModel.metadata.namespace,
      labels: { ...describePods(baseModel, 'engine'), [labels.specHash]: hashOf({ hash, rollout }) },
      annotations: {
        [annotations.baseModelGeneration]: generationOf(baseModel),
        [annotations.rolledOutAt]: rolledOutAt,
      },
      ownerReferences: [ownerOf(baseModel)],
    },
    spec: {
      replicas: rollout.replicas,
      strategy: { type: 'RollingUpdate', rollingUpdate: rollout.rollingUpdate },
      selector: { matchLabels: selector },
      template: {
        metadata: overlayMetadata({ labels: podLabels }, baseModel.spec.engine?.podTemplate),
        spec,
      },
    },
  } as Deployment
}

export function generationOf({ metadata }: BaseModel): string {
  return String(metadata.generation)
}

export function engineName(baseModel: BaseModel): string {
  return `${baseModel.metadata.name}-engine`
}
