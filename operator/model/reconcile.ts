import type { Model } from '../../crds/generated.ts'
import { conditions, reasons } from '../../crds/names.ts'
import { findRegisteredName } from '../../db/queries/operator-base-models.ts'
import {
  findNamedModel,
  hideModel,
  insertResourceModel,
  listModelsOfResource,
  tieModel,
} from '../../db/queries/operator-models.ts'
import type { Context } from '../context.ts'
import { listReadyEngines } from '../engines.ts'
import { patchStatus, readObject } from '../kube/apply.ts'
import { recordEvent } from '../kube/events.ts'
import { customPath } from '../kube/paths.ts'
import { planModel, type ModelFacts, type ModelPlan } from './plan.ts'
import { describeModel, describeRefusedModel, type ModelStatus } from './status.ts'

type Settled = Extract<ModelPlan, { do: 'accept' | 'refuse' }>

/**
 * Gives one Model its row in Postgres (its id, its name) and writes how it stands. A Model whose resource was deleted
 * is hidden: its weights stay, and the same resource applied again finds them.
 */
export async function reconcileModel(context: Context, name: string): Promise<void> {
  const resource = context.models.get(name)
  if (!resource) return hideDeleted(context, name)
  if (resource.metadata.deletionTimestamp !== undefined) return
  const plan = await settleModel(context, resource)
  const status = await describe(context, resource, plan)
  await tellStory(context, resource, status)
  await patchStatus(context.client, customPath('Model', context.namespace, name), resource, status)
}

/** Asks the server itself first: our copy may be older than the row. */
async function hideDeleted({ client, pool, namespace, log }: Context, name: string): Promise<void> {
  const rows = await listModelsOfResource(pool, namespace, name)
  if (rows.length === 0 || (await readObject(client, customPath('Model', namespace, name)))) return
  for (const row of rows) {
    await hideModel(pool, row)
    log.info({ model: row.id }, 'model hidden, because its resource was deleted')
  }
}

/** Takes the steps of the plan until there is nothing left to do. */
async function settleModel(context: Context, resource: Model): Promise<Settled> {
  for (;;) {
    const plan = planModel(await observe(context, resource))
    if (plan.do === 'accept' || plan.do === 'refuse') return plan
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
  }
}

async function execute(
  { pool, namespace }: Context,
  { metadata, spec }: Model,
  plan: Exclude<ModelPlan, Settled>,
): Promise<void> {
  const crName = metadata.name ?? ''
  if (plan.do === 'tie') return tieModel(pool, plan.id, namespace, crName)
  const { entity, project, name } = spec
  await insertResourceModel(pool, { entity, project, name, baseModel: plan.baseModel, namespace, crName })
}

async function describe(context: Context, resource: Model, plan: Settled): Promise<ModelStatus> {
  const now = new Date()
  if (plan.do === 'refuse') return describeRefusedModel(resource, plan.reason, plan.message, now)
  const engines = listReadyEngines(context, resource.spec.baseModelRef.name)
  return describeModel(resource, plan.row, engines.length, now)
}

/** An order of arrival that settles by itself is no story. */
const untold: ReadonlySet<string> = new Set([reasons.baseModelNotAccepted])

async function tellStory({ client }: Context, resource: Model, status: ModelStatus): Promise<void> {
  const find = (of: ModelStatus | undefined) => of?.conditions?.find(({ type }) => type === conditions.accepted)
  const [before, after] = [find(resource.status), find(status)]
  if (!after || untold.has(after.reason) || (before?.status === after.status && before.reason === after.reason)) return
  const { reason, message } = after
  await recordEvent(client, resource, { type: after.status === 'True' ? 'Normal' : 'Warning', reason, message })
}
