import { notFound, unprocessable, valueError } from '../../../lib/http/http-error.ts'
import { findBaseModel, listBaseModels, type BaseModelRow } from '../../../db/base-models/base-models.ts'
import { findListedModel, findModelDetails, listModelDetails, type ModelDetails } from '../../../db/models/details.ts'
import { findModel, findModelByName, unhideModel, type ModelName, type ModelRow } from '../../../db/models/models.ts'
import { insertModel } from '../../../db/models/insert.ts'
import { notForked } from '../../../db/models/table.ts'
import { resourceName } from '../../../crds/names.ts'
import type { Deps } from '../../deps.ts'
import type { Caller } from '../../accounts/context.ts'
import { isUuid } from '../../../lib/http/validation/compile.ts'
import { resolveCursor } from '../../../lib/http/page.ts'
import { makeResource, nameModel, nameTaken } from './make.ts'
import type { ModelCreate, ModelListQuery } from './schema.ts'

// A sentence of more is read by nobody.
const maxNames = 10

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
    resourceCreatedAt: null,
    retention: wanted.retention ?? null,
    ...notForked,
  })
  if (!model) return takeExisting(deps, name, ({ id: known }) => wanted.return_existing === true || known === id)
  await makeResource(deps, model, baseModel)
  return model
}

/** An entity's own model. */
export async function getModel(deps: Deps, entity: string, id: string): Promise<ModelRow> {
  const model = isUuid(id) ? await findModel(deps.pool, entity, id) : undefined
  if (!model) throw notFound('Model', id)
  return model
}

/** The same with all that clients are shown of it. */
export async function getModelDetails({ pool }: Deps, entity: string, id: string): Promise<ModelDetails> {
  const model = isUuid(id) ? await findModelDetails(pool, entity, id) : undefined
  if (!model) throw notFound('Model', id)
  return model
}

/** One model more than the page holds, so that it shows whether there are more. */
export async function listOwnModels(
  { pool }: Deps,
  entity: string,
  { after, limit, order, project, name }: ModelListQuery,
): Promise<ModelDetails[]> {
  const filter = { entity, project, name }
  const cursor = await resolveCursor(after, (id) => findListedModel(pool, filter, id))
  return listModelDetails(pool, filter, { after: cursor, order, limit: limit + 1 })
}

async function requireBaseModel(deps: Deps, name: string): Promise<BaseModelRow> {
  const baseModel = await findBaseModel(deps.pool, name)
  if (baseModel) return baseModel
  const known = (await listBaseModels(deps.pool)).slice(0, maxNames).map((other) => other.name)
  const there =
    known.length > 0
      ? `The base models are ${known.join(', ')} (GET /v1/models lists all)`
      : 'There are no base models yet'
  const reason = `there is no base model ${name.slice(0, 200)}. ${there}`
  throw unprocessable(valueError(['body', 'base_model'], reason))
}

async function takeExisting(deps: Deps, name: ModelName, isWanted: (existing: ModelRow) => boolean): Promise<ModelRow> {
  const existing = await findModelByName(deps.pool, name)
  if (!existing || !isWanted(existing)) {
    throw nameTaken(name, 'send "return_existing": true to get it')
  }
  return returnExisting(deps, existing)
}

/** A model whose resource was deleted keeps its checkpoints, and comes back when it is asked for by name. */
async function returnExisting(deps: Deps, model: ModelRow): Promise<ModelRow> {
  if (model.hiddenAt) await unhideModel(deps.pool, model.id)
  return model
}
