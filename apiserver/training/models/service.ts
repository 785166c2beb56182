import { notFound, unprocessable, valueError } from '../../../lib/http/http-error.ts'
import { findBaseModel, listBaseModels } from '../../../db/base-models/base-models.ts'
import {
  countModels,
  findListedModel,
  findModelDetails,
  listModelDetails,
  type ModelDetails,
} from '../../../db/models/details.ts'
import { findModel, findModelByName, unhideModel, type ModelName, type ModelRow } from '../../../db/models/models.ts'
import { insertModel } from '../../../db/models/insert.ts'
import { notForked } from '../../../db/models/table.ts'
import { resourceName } from '../../../crds/names.ts'
import type { Pool } from '../../../db/pool.ts'
import type { Caller } from '../../accounts/context.ts'
import { requireModelId } from '../../accounts/model-references.ts'
import { countTotal, resolveCursor } from '../../../lib/http/page.ts'
import type { BaseModelCreator, CreatedBaseModel } from '../base-models/base-model-creator.ts'
import { createResource, nameModel, nameTaken, type ResourceDeps } from './create-resource.ts'
import type { ModelCreate, ModelListQuery } from './schema.ts'

/** What creating models needs. */
export interface ModelDeps extends ResourceDeps {
  /** The namespace of the models' resources. */
  namespace: string
  /** Makes unknown base models. Undefined if the administrator allows none. */
  baseModelCreator: BaseModelCreator | undefined
}

// Nobody reads a sentence with more names.
const maxNames = 10

/**
 * Creates a model, or finds the one of the same name if `return_existing` is set. Concurrent calls are safe. If a model
 * already has the new id, an earlier run of the same request created it.
 */
export async function createModel(
  deps: ModelDeps,
  { caller, newId }: { caller: Caller; newId: () => string },
  wanted: ModelCreate,
): Promise<ModelRow> {
  const id = newId()
  const name = nameModel(id, caller.entity, wanted)
  const existing = wanted.return_existing ? await findModelByName(deps.pool, name) : undefined
  if (existing) return returnExisting(deps.pool, existing)
  const baseModel = await requireBaseModel(deps, caller, wanted.base_model)
  const model = await insertModel(deps.pool, {
    ...name,
    id,
    keyId: caller.keyId,
    baseModel: baseModel.name,
    namespace: deps.namespace,
    crName: resourceName(name.name, id),
    resourceCreatedAt: null,
    retention: wanted.retention ?? null,
    ...notForked,
  })
  if (!model) return takeExisting(deps.pool, name, ({ id: known }) => wanted.return_existing === true || known === id)
  await createResource(deps, model, baseModel)
  return model
}

/** Finds a model of an entity by its id or its name. */
export async function getModel(pool: Pool, entity: string, reference: string): Promise<ModelRow> {
  const model = await findModel(pool, entity, await requireModelId(pool, entity, reference))
  if (!model) throw notFound('Model', reference)
  return model
}

/** Finds a model with everything that clients see of it, by its id or its name. */
export async function getModelDetails(pool: Pool, entity: string, reference: string): Promise<ModelDetails> {
  const model = await findModelDetails(pool, entity, await requireModelId(pool, entity, reference))
  if (!model) throw notFound('Model', reference)
  return model
}

/** Lists one model more than the limit, which shows whether more follow. */
export async function listOwnModels(
  pool: Pool,
  entity: string,
  { after, limit, order, project, name, max_total: maxTotal }: ModelListQuery,
): Promise<{ rows: ModelDetails[]; total: number | undefined }> {
  const filter = { entity, project, name }
  const cursor = await resolveCursor(after, (id) => findListedModel(pool, filter, id))
  const rows = await listModelDetails(pool, filter, { after: cursor, order, limit: limit + 1 })
  return { rows, total: await countTotal(maxTotal, (max) => countModels(pool, filter, max)) }
}

async function requireBaseModel(
  { pool, baseModelCreator }: ModelDeps,
  caller: Caller,
  name: string,
): Promise<CreatedBaseModel> {
  const baseModel = (await findBaseModel(pool, name)) ?? (await baseModelCreator?.make(name, caller))
  if (baseModel) return baseModel
  const known = (await listBaseModels(pool)).slice(0, maxNames).map((other) => other.name)
  const there =
    known.length > 0
      ? `The base models are ${known.join(', ')} (GET /v1/models lists all)`
      : 'There are no base models yet'
  const possible = baseModelCreator
    ? `are made for names like ${baseModelCreator.patterns.slice(0, maxNames).join(', ')}`
    : 'are made by an administrator'
  const reason = `there is no base model ${name.slice(0, 200)}. ${there}. New ones ${possible}`
  throw unprocessable(valueError(['body', 'base_model'], reason))
}

async function takeExisting(pool: Pool, name: ModelName, isWanted: (existing: ModelRow) => boolean): Promise<ModelRow> {
  const existing = await findModelByName(pool, name)
  if (!existing || !isWanted(existing)) {
    throw nameTaken(name, 'send "return_existing": true to get it')
  }
  return returnExisting(pool, existing)
}

/** A model whose resource was deleted keeps its checkpoints. A request by its name makes it visible again. */
async function returnExisting(pool: Pool, model: ModelRow): Promise<ModelRow> {
  if (model.hiddenAt) await unhideModel(pool, model.id)
  return model
}
