import { findBaseModel, type BaseModelRow } from '../../../db/queries/base-models.ts'
import { findCheckpointStep, listCheckpoints, type CheckpointRow } from '../../../db/queries/checkpoints.ts'
import {
  findModel,
  findModelByName,
  insertModel,
  markModelResourceMade,
  unhideModel,
  type ModelName,
  type ModelRow,
} from '../../../db/queries/models.ts'
import { buildModel } from '../../../crds/manifests.ts'
import { resourceName } from '../../../crds/names.ts'
import type { Deps } from '../../deps.ts'
import type { Caller } from '../../middleware/context.ts'
import { notFound, Refusal, unprocessable } from '../../refusal.ts'
import { isUuid } from '../../validation/compile.ts'
import { resolveCursor, type OrderedPageQuery } from '../list.ts'
import { defaultProject, generateModelName, isReservedProject } from '../names.ts'
import type { ModelCreate } from './schema.ts'

/**
 * Makes a model, or finds the one of the same name when `return_existing` is set; at once for many callers. A model that
 * has the new id already was made by an earlier run of the same request.
 */
export async function createModel(
  deps: Deps,
  { caller, newId }: { caller: Caller; newId: () => string },
  wanted: ModelCreate,
): Promise<ModelRow> {
  const id = newId()
  const name = nameModel(id, caller.entity, wanted)
  const existing = wanted.return_existing ? await findModelByName(deps.pool, name) : undefined
  if (existing) return returnExisting(deps, existing)
  const baseModel = await requireBaseModel(deps, wanted.base_model)
  const model = await insertModel(deps.pool, {
    ...name,
    id,
    keyId: caller.keyId,
    baseModel: baseModel.name,
    namespace: deps.config.TRAINYARD_NAMESPACE,
    crName: resourceName(name.name, id),
  })
  if (!model) return takeExisting(deps, name, ({ id: known }) => wanted.return_existing === true || known === id)
  await makeResource(deps, model, baseModel)
  return model
}

/** An entity's own model. */
export async function getModel(deps: Deps, entity: string, id: string): Promise<ModelRow> {
  const model = isUuid(id) ? await findModel(deps.pool, entity, id) : undefined
  if (!model) throw notFound('Model')
  return model
}

/** One checkpoint more than the page holds, so that it shows whether there are more. */
export async function listModelCheckpoints(
  deps: Deps,
  entity: string,
  modelId: string,
  { after, limit, order }: OrderedPageQuery,
): Promise<CheckpointRow[]> {
  const { id } = await getModel(deps, entity, modelId)
  const step = await resolveCursor(after, (cursor) => findCheckpointStep(deps.pool, id, cursor))
  return listCheckpoints(deps.pool, id, { after: step, order, limit: limit + 1 })
}

function nameModel(id: string, entity: string, wanted: ModelCreate): ModelName {
  if ((wanted.entity ?? entity) !== entity) {
    throw new Refusal(403, `This key belongs to the entity ${entity}, and cannot make models of another.`)
  }
  const project = wanted.project ?? defaultProject
  if (isReservedProject(project)) {
    throw unprocessable({ loc: ['body', 'project'], msg: 'Value error, this name is reserved', type: 'value_error' })
  }
  return { entity, project, name: wanted.name ?? generateModelName(id) }
}

async function requireBaseModel(deps: Deps, name: string): Promise<BaseModelRow> {
  const baseModel = await findBaseModel(deps.pool, name)
  if (baseModel) return baseModel
  const msg = 'Value error, no base model goes by this name; GET /v1/models lists those that do'
  throw unprocessable({ loc: ['body', 'base_model'], msg, type: 'value_error' })
}

async function takeExisting(deps: Deps, name: ModelName, isWanted: (existing: ModelRow) => boolean): Promise<ModelRow> {
  const existing = await findModelByName(deps.pool, name)
  if (!existing || !isWanted(existing)) {
    const address = `${name.entity}/${name.project}/${name.name}`
    throw new Refusal(409, `A model ${address} exists already; send "return_existing": true to get it.`)
  }
  return returnExisting(deps, existing)
}

/** A model whose resource was deleted keeps its checkpoints, and comes back when it is asked for by name. */
async function returnExisting(deps: Deps, model: ModelRow): Promise<ModelRow> {
  if (model.hiddenAt) await unhideModel(deps.pool, model.id)
  return model
}

/** Without Kubernetes the model is there all the same: the operator makes the resource later. */
async function makeResource({ kube, pool, log }: Deps, model: ModelRow, baseModel: BaseModelRow): Promise<void> {
  try {
    await kube.createResource('Model', buildModel({ ...model, baseModelCrName: baseModel.crName }))
    await markModelResourceMade(pool, model.id)
  } catch (error) {
    log.warn({ error, modelId: model.id }, 'model resource not made, left to the operator')
  }
}
