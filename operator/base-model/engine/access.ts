import type { BaseModel } from '../../../crds/generated.ts'
import { labels } from '../../../crds/names.ts'
import { applyObject, deleteObject, type KubeObject } from '../../../lib/kube/apply.ts'
import type { KubeClient } from '../../../lib/kube/client.ts'
import { uidOf } from '../../../lib/kube/objects.ts'
import { disruptionBudgetPath, servicePath } from '../../../lib/kube/paths.ts'
import type { ObjectCache } from '../../../lib/kube/reflector.ts'
import { engineName } from './deployment.ts'
import { buildDisruptionBudget, buildEngineService } from './service.ts'

export interface EngineAccessDeps {
  client: KubeClient
  namespace: string
  services: ObjectCache<KubeObject>
  disruptionBudgets: ObjectCache<KubeObject>
}

/** Applies the Service of a base model's engines, and their disruption budget while there are several. */
export async function applyEngineAccess(deps: EngineAccessDeps, baseModel: BaseModel, replicas: number): Promise<void> {
  const { client, namespace, services, disruptionBudgets } = deps
  const name = engineName(baseModel)
  await applyChanged(client, servicePath(namespace, name), [services.get(name), buildEngineService(baseModel)])
  const budget = buildDisruptionBudget(baseModel, replicas)
  const present = disruptionBudgets.get(name)
  const path = disruptionBudgetPath(namespace, name)
  if (budget) return applyChanged(client, path, [present, budget])
  if (present) await deleteObject(client, path, uidOf(present))
}

async function applyChanged(
  client: KubeClient,
  path: string,
  [present, wanted]: [KubeObject | undefined, KubeObject],
): Promise<void> {
  const hash = labels.specHash
  if (present?.metadata.labels?.[hash] !== wanted.metadata.labels?.[hash]) await applyObject(client, path, wanted)
}
