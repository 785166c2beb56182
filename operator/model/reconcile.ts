import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Model } from '../../crds/generated.ts'
import { conditions, isAlias, labels, reasons } from '../../crds/names.ts'
import { deleteModel } from '../../db/deletion/models.ts'
import { findRegisteredName } from '../../db/base-models/resources.ts'
import {
  findNamedModel,
  hideModel,
  listModelsOfResource,
  recordDeletionPolicy,
  tieModel,
  type OperatorModel,
} from '../../db/models/resources.ts'
import { findDeletedModel } from '../../db/deletion/model-removal.ts'
import { insertModel } from '../../db/models/insert.ts'
import { notForked } from '../../db/models/table.ts'
import { applyResourceAliases } from '../../db/models/resource-aliases.ts'
import type { Context } from '../context.ts'
import { listReadyEngines } from '../engines.ts'
import { deleteObject, patchStatus, readObject } from '../../lib/kube/apply.ts'
import { recordEvent } from '../../lib/kube/events.ts'
import { customPath } from '../../crds/paths.ts'
import { planModel, type ModelFacts, type ModelPlan } from './plan.ts'
import { describeModel, describeRefusedModel, type ModelStatus } from './status.ts'

type Settled = Extract<ModelPlan, { do: 'accept' | 'refuse' | 'delete' }>

/**
 * Gives one Model its row in Postgres (its id, its name) and writes how it stands. A Model whose resource was deleted
 * is hidden: its weights stay, and the same resource applied again finds them; or it is deleted, if the resource said so.
 */
export async function reconcileModel(context: Context, name: string): Promise<void> {
  const resource = context.models.get(name)
  if (!resource) return hideDeleted(context, name)
  if (resource.metadata.deletionTimestamp !== undefined) return
  const plan = await settleModel(context, resource)
  if (plan.do === 'delete') return deleteResource(context, resource)
  const status = await describe(context, resource, plan)
  await emitEvents(context, resource, status)
  await patchStatus(context.client, customPath('Model', context.namespace, name), resource, status)
}

/** Asks the server itself first: our copy may be older than the row. */
async function hideDeleted({ client, pool, namespace, log }: Context, name: string): Promise<void> {
  const rows = await listModelsOfResource(pool, namespace, name)
  if (rows.length === 0 || (await readObject(client, customPath('Model', namespace, name)))) return
  for (const row of rows) {
    if (row.deletionPolicy === 'Delete') await deleteModel(pool, { id: row.id })
    else await hideModel(pool, row)
    log.info({ model: row.id, policy: row.deletionPolicy }, 'the resource of a model was deleted')
  }
}

async function deleteResource({ client, namespace, log }: Context, { metadata }: Model): Promise<void> {
  await deleteObject(client, customPath('Model', namespace, metadata.name), metadata.uid ?? '')
  log.info({ model: metadata.name }, 'resource of a deleted model deleted')
}

/** Takes the steps of the plan until there is nothing left to do. */
async function settleModel(context: Context, resource: Model): Promise<Settled> {
  for (;;) {
    const plan = planModel(await observe(context, resource))
    if (plan.do === 'accept' || plan.do === 'refuse' || plan.do === 'delete') return plan
    context.log.info({ model: resource.metadata.name, do: plan.do, reason: plan.reason }, 'model taken in')
    await execute(context, resource, plan)
  }
}

async function observe({ pool, namespace, baseModels }: Context, resource: Model): Promise<ModelFacts> {
  const base = resource.spec.baseModelRef.name
  return {
    resource,
    namespace,
    baseModelExists: baseModels.get(base) !== undefined,
    baseModel: await findRegisteredName(pool, namespace, base),
    row: await findNamedModel(pool, resource.spec),
    isDeleted: (await findDeletedModel(pool, namesOf(resource))) !== undefined,
  }
}

/** The ids that it was made for, and was given. */
function namesOf({ metadata, status }: Model): string[] {
  return [metadata.labels?.[labels.id], status?.id].filter((id) => id !== undefined)
}

async function execute(
  { pool, namespace }: Context,
  { metadata, spec }: Model,
  plan: Exclude<ModelPlan, Settled>,
): Promise<void> {
  const crName = metadata.name ?? ''
  if (plan.do === 'tie') return tieModel(pool, plan.id, namespace, crName)
  if (plan.do === 'note') return recordDeletionPolicy(pool, plan.id, plan.deletionPolicy)
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

async function describe(
  context: Context,
  resource: Model,
  plan: Exclude<Settled, { do: 'delete' }>,
): Promise<ModelStatus> {
  const now = new Date()
  if (plan.do === 'refuse') return describeRefusedModel(resource, plan.reason, plan.message, now)
  const { row, unapplied } = await applyAliases(context, resource, plan.row)
  const engines = listReadyEngines(context, resource.spec.baseModelRef.name)
  return describeModel(resource, row, { readyEngines: engines.length, unapplied, now })
}

/** Takes over the resource's aliases where they have changed; gives the row as it is then. */
async function applyAliases({ pool }: Context, { spec }: Model, row: OperatorModel) {
  const { aliases = {} } = spec
  if (isDeepStrictEqual(aliases, row.resourceAliases)) return { row, unapplied: [] }
  const possible = Object.fromEntries(Object.entries(aliases).filter(([alias]) => isAlias(alias)))
  await applyResourceAliases(pool, row.id, possible)
  const applied = (await findNamedModel(pool, spec)) ?? row
  const unapplied = Object.keys(aliases).filter((alias) => applied.resourceAliases[alias] !== aliases[alias])
  return { row: applied, unapplied }
}

/** An order of arrival that settles by itself is no story. */
const untold: ReadonlySet<string> = new Set([reasons.baseModelNotAccepted])

async function emitEvents({ client }: Context, resource: Model, status: ModelStatus): Promise<void> {
  const find = (of: ModelStatus | undefined) => of?.conditions?.find(({ type }) => type === conditions.accepted)
  const [before, after] = [find(resource.status), find(status)]
  if (!after || untold.has(after.reason) || (before?.status === after.status && before.reason === after.reason)) return
  const { reason, message } = after
  await recordEvent(client, resource, { type: after.status === 'True' ? 'Normal' : 'Warning', reason, message })
}
