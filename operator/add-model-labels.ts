import type { Model } from '../crds/generated.ts'
import { buildModelLabels } from '../crds/model-labels.ts'
import type { Kind } from '../crds/names.ts'
import { customPath } from '../crds/paths.ts'
import type { KubeObject } from '../lib/kube/apply.ts'
import type { KubeClient } from '../lib/kube/client.ts'
import { addLabels } from '../lib/kube/labels.ts'

/** Adds the labels of a model to its resource, or to the resource of one of its jobs. REST's have them already. */
export async function addModelLabels(
  { client, namespace }: { client: KubeClient; namespace: string },
  kind: Kind,
  { resource, model }: { resource: KubeObject; model: Model['spec'] },
): Promise<void> {
  const labels = buildModelLabels({ ...model, baseModelCrName: model.baseModelRef.name })
  await addLabels(client, customPath(kind, namespace, resource.metadata.name), { object: resource, labels })
}
