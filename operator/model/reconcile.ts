import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { BaseModel, Model } from '../../crds/generated.ts'
import { isAlias, labels, reasons } from '../../crds/names.ts'
import { withInvalidation } from '../../db/changes.ts'
import { deleteModel } from '../../db/deletion/models.ts'
import { findRegisteredName } from '../../db/base-models/resources.ts'
import {
  findNamedModel,
  forgetModelResource,
  hasCreatedModelResource,
  hideModel,
  recordPolicies,
  tieModel,
  type OperatorModel,
} from '../../db/models/resources.ts'
import { findDeletedModel } from '../../db/deletion/model-removal.ts'
import { insertModel } from '../../db/models/insert.ts'
import { notForked } from '../../db/models/table.ts'
import { applyResourceAliases } from '../../db/models/resource-aliases.ts'
import type { Pool } from '../../db/pool.ts'
import type { Logger } from '../../lib/log.ts'
import type { KubeClient } from '../../lib/kube/client.ts'
import type { ObjectCache } from '../../lib/kube/reflector.ts'
import { splitKey, type Pod } from '../../lib/kube/objects.ts'
import { limitKept, listWantedAdapters } from '../../db/engines/wanted-adapters.ts'
import { findEngineContainer } from '../adapters/engine-container.ts'
import { maxAdaptersOf } from '../adapters/pod-adapters.ts'
import { listReadyEngines } from '../component-pods.ts'
import { deleteObject, isStatusChanged, readObject } from '../../lib/kube/apply.ts'
import { recordEvents } from '../../lib/kube/events.ts'
import type { Requeue } from '../../lib/kube/queue.ts'
import type { StatusWriter } from '../../lib/kube/status-writer.ts'
import { customPath } from '../../crds/paths.ts'
import { diffModelEvents } from './model-events.ts'
import type { OperatorEvents } from '../metrics/events.ts'
import { addModelLabels } from '../add-model-labels.ts'
import { ensureFinalizer, finalize } from '../finalize.ts'
import type { ResourceIds } from '../resource-ids.ts'
import type { StatusThrottle } from '../status-throttle.ts'
import { planStatusDelay } from './status-delay.ts'
import { planModel, rejectEntity, type ModelFacts, type ModelPlan } from './plan.ts'
import type { Tenants } from '../tenants.ts'
import type { Keeping } from './adapter-conditions.ts'
import { describeModel, describeRejectedModel, type ModelStatus } from './status.ts'

/** What the reconciliation of models needs. */
export interface ModelDeps {
  client: KubeClient
  pool: Pool
  log: Logger
  /** The namespace of the operator and of BaseModels. */
  namespace: string
  tenants: Tenants
  baseModels: ObjectCache<BaseModel>
  models: ObjectCache<Model>
  pods: ObjectCache<Pod>
  events: OperatorEvents
}

/** What the reconciliations of models share. */
export interface ModelWorkers {
  statuses: StatusWriter<Model>
  throttle: StatusThrottle
  ids: ResourceIds
}

/** The same in the namespace of one Model. */
type Deps = ModelDeps & { home: string }

type Outcome = Extract<ModelPlan, { do: 'accept' | 'reject' | 'delete' }>

/**
 * Gives a Model its row in Postgres (its id, its name) and writes its status. If the resource is deleted, the model is
 * hidden: its weights stay, and the same resource finds them again. With deletionPolicy Delete the model is deleted. A
 * resource that is gone without that was lost, and is made again.
 */
export async function reconcileModel(given: ModelDeps & ModelWorkers, key: string): Promise<Requeue | void> {
  const { namespace, name } = splitKey(key)
  const deps = { ...given, namespace, home: given.namespace }
  const cached = deps.models.get(key)
  if (!cached) {
    deps.throttle.forget(key)
    deps.ids.forget(key)
    return restoreLost(deps, name)
  }
  const resource = deps.statuses.findLatest(cached)
  if (resource.metadata.deletionTimestamp !== undefined) {
    await finalize(deps, { kind: 'Model', resource, record: () => recordDeletion(deps, resource) })
    return
  }
  const plan = await converge(deps, resource)
  if (plan.do === 'delete') return deleteResource(deps, resource)
  await addModelLabels(deps, 'Model', { resource, model: resource.spec })
  const status = await describe(deps, resource, plan)
  if (status.id !== undefined) deps.ids.record(status.id, key)
  const isChanged = isStatusChanged(resource.status, status)
  const waitMs = isChanged ? deps.throttle.notice(key, planStatusDelay(resource.status, status)) : 0
  if (waitMs > 0) return { afterMs: waitMs }
  if (isChanged) await deps.statuses.write(customPath('Model', deps.namespace, name), resource, status)
  deps.throttle.settle(key, { isWritten: isChanged })
  if (isChanged) await recordEvents(deps, resource, diffModelEvents(resource.status, status))
}

/** Asks kube-apiserver first, because our copy may be older than the row. */
async function restoreLost({ client, pool, namespace, log, events }: ModelDeps, name: string): Promise<void> {
  if (!(await hasCreatedModelResource(pool, namespace, name))) return
  if (await readObject(client, customPath('Model', namespace, name))) return
  const models = await forgetModelResource(pool, namespace, name)
  events.recordDrift('model_resource_lost')
  log.warn({ models, name }, 'the resource of a model was lost, and is made again')
}

/** The policy is that of the resource that is being deleted, whatever was recorded before. */
async function recordDeletion({ pool, namespace, log }: ModelDeps, { metadata, spec }: Model): Promise<void> {
  const row = await findNamedModel(pool, spec)
  if (row?.namespace !== namespace || row.crName !== metadata.name || row.hiddenAt !== null) return
  const { deletionPolicy: policy = 'Retain' } = spec
  // No chat uses the model when its resource is gone.
  await withInvalidation<unknown>(pool, (connection) =>
    policy === 'Delete' ? deleteModel(connection, { id: row.id }) : hideModel(connection, row.id),
  )
  log.info({ model: row.id, policy }, 'the resource of a model was deleted')
}

async function deleteResource({ client, namespace, log }: ModelDeps, { metadata }: Model): Promise<void> {
  await deleteObject(client, customPath('Model', namespace, metadata.name), metadata.uid ?? '')
  log.info({ model: metadata.name }, 'resource of a deleted model deleted')
}

/** Plans and executes until nothing is left to do. */
async function converge(deps: Deps, seen: Model): Promise<Outcome> {
  const { entity } = seen.spec
  if (!deps.tenants.mayClaim(deps.namespace, entity)) return rejectEntity(deps.namespace, entity)
  for (let resource = seen; ;) {
    const plan = planModel(await observe(deps, resource))
    if (plan.do === 'reject' || plan.do === 'delete') return plan
    resource = await ensureFinalizer(deps, 'Model', resource)
    if (plan.do === 'accept') return plan
    deps.log.info({ model: resource.metadata.name, do: plan.do, reason: plan.reason }, 'model reconciled')
    await execute(deps, resource, plan)
  }
}

async function observe({ pool, namespace, home, baseModels }: Deps, resource: Model): Promise<ModelFacts> {
  const base = resource.spec.baseModelRef.name
  return {
    resource,
    namespace,
    baseModelExists: baseModels.get(base) !== undefined,
    baseModel: await findRegisteredName(pool, home, base),
    row: await findNamedModel(pool, resource.spec),
    isDeleted: (await findDeletedModel(pool, idsOf(resource))) !== undefined,
  }
}

/** The id in its label, which the apiserver sets, and the id in its status. */
function idsOf({ metadata, status }: Model): string[] {
  return [metadata.labels?.[labels.id], status?.id].filter((id) => id !== undefined)
}

async function execute(deps: ModelDeps, resource: Model, plan: Exclude<ModelPlan, Outcome>): Promise<void> {
  const { pool, namespace } = deps
  const { metadata, spec } = resource
  const crName = metadata.name ?? ''
  if (plan.do === 'tie') return tieModel(pool, plan.id, namespace, crName)
  if (plan.do === 'update') return recordPolicies(pool, plan.id, plan.policies)
  if (idsOf(resource).length > 0) await recordLostRow(deps, resource)
  const { entity, project, name } = spec
  await insertModel(pool, {
    ...notForked,
    id: randomUUID(),
    entity,
    project,
    name,
    baseModel: plan.baseModel,
    namespace,
    crName,
    resourceCreatedAt: new Date(),
    keyId: null,
    retention: null,
  })
}

/** Our copy may be older than an erasure, which removes the resource and then the row. */
async function recordLostRow({ client, namespace, events }: ModelDeps, { metadata }: Model): Promise<void> {
  const current = await readObject<Model>(client, customPath('Model', namespace, metadata.name))
  if (current?.metadata.uid !== metadata.uid) throw new Error(`our copy of Model ${metadata.name} is out of date`)
  events.recordDrift('model_row_lost')
}

async function describe(
  deps: ModelDeps,
  resource: Model,
  plan: Exclude<Outcome, { do: 'delete' }>,
): Promise<ModelStatus> {
  const now = new Date()
  if (plan.do === 'reject') return describeRejectedModel(resource, plan, now)
  const { row, unapplied } = await applyAliases(deps, resource, plan.row)
  const { name } = resource.spec.baseModelRef
  const engines = listReadyEngines(deps.pods, name).map(findEngineContainer)
  const isScaledToZero = engines.length === 0 && deps.baseModels.get(name)?.status?.reason === reasons.scaledToZero
  const keeping = resource.spec.keepLoaded ? await measureKeeping(deps, resource, row) : undefined
  return describeModel(resource, row, { engines, isScaledToZero, keeping, unapplied, now })
}

/** Finds out whether a model is one of those that are kept loaded. */
async function measureKeeping({ pool, baseModels }: ModelDeps, { spec }: Model, row: OperatorModel): Promise<Keeping> {
  const baseModel = baseModels.get(spec.baseModelRef.name)
  const maxAdapters = baseModel ? maxAdaptersOf(baseModel.spec) : 0
  const { kept } = await listWantedAdapters(pool, row.baseModel, maxAdapters)
  const { newestCheckpoint: newest } = row
  return { isKept: newest === null || kept.includes(newest), maxKept: limitKept(maxAdapters), maxAdapters }
}

/** Applies changed aliases of the resource. Returns the row with them. */
async function applyAliases({ pool }: ModelDeps, { spec }: Model, row: OperatorModel) {
  const { aliases = {} } = spec
  if (isDeepStrictEqual(aliases, row.resourceAliases)) return { row, unapplied: [] }
  const possible = Object.fromEntries(Object.entries(aliases).filter(([alias]) => isAlias(alias)))
  // The status shows them only when every chat finds them.
  await withInvalidation(pool, (connection) => applyResourceAliases(connection, row.id, possible))
  const applied = (await findNamedModel(pool, spec)) ?? row
  const unapplied = Object.keys(aliases).filter((alias) => applied.resourceAliases[alias] !== aliases[alias])
  return { row: applied, unapplied }
}
