import type { BaseModel } from '../../crds/generated.ts'
import { customPath } from '../../crds/paths.ts'
import { applyObject, deleteObject } from '../../lib/kube/apply.ts'
import type { KubeClient } from '../../lib/kube/client.ts'
import { KubeError } from '../../lib/kube/error.ts'
import { recordEvents, type EventSpec } from '../../lib/kube/events.ts'
import { uidOf, type ConfigMap } from '../../lib/kube/objects.ts'
import type { ObjectCache } from '../../lib/kube/reflector.ts'
import type { Logger } from '../../lib/log.ts'
import { planValues } from './plan.ts'

/** What making the BaseModels of the chart's values needs. */
export interface ValuesDeps {
  client: KubeClient
  namespace: string
  log: Logger
  baseModels: ObjectCache<BaseModel>
  baseModelValues: ObjectCache<ConfigMap>
}

/**
 * Applies the BaseModels of the chart's values, and deletes those that were removed from the values. One that is rejected
 * does not stop the others.
 */
export async function reconcileValues(deps: ValuesDeps, name: string): Promise<void> {
  const { client, namespace, log } = deps
  const values = deps.baseModelValues.get(name)
  if (!values || values.metadata.deletionTimestamp !== undefined) return
  const { apply, remove } = planValues(values, deps.baseModels.list())
  const errors: unknown[] = []
  for (const baseModel of apply) {
    const path = customPath('BaseModel', namespace, baseModel.metadata.name)
    await applyObject(client, path, baseModel).catch((error: unknown) => errors.push(error))
  }
  for (const baseModel of remove) {
    const { name: removed } = baseModel.metadata
    log.info({ baseModel: removed }, 'base model is no longer in the values of the chart')
    await deleteObject(client, customPath('BaseModel', namespace, removed), uidOf(baseModel))
  }
  await recordEvents(deps, values, errors.flatMap(describeRejection))
  if (errors.length > 0) throw new AggregateError(errors, 'applying base models of the chart')
}

function describeRejection(error: unknown): EventSpec[] {
  return error instanceof KubeError ? [{ type: 'Warning', reason: 'BaseModelRejected', message: error.message }] : []
}
