import { HttpError, unprocessable } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import { findBaseModel, listBaseModels } from '../../../db/base-models/base-models.ts'
import { listNewestModels } from '../../../db/models/models.ts'
import { findServedModel } from '../../../db/models/served.ts'
import type { UsageAccount } from '../../../db/accounts/chat-usage.ts'
import type { Pool } from '../../../db/pool.ts'
import { pickDefaultBaseModel } from './default-base-model.ts'
import { parseModelAddress, type ModelAddress } from './model-address.ts'
import { findSimilarNames } from './similar-names.ts'

const noDefault =
  'Field required: name one of the models that GET /v1/models lists. A chat without a model means the base model whose ' +
  'BaseModel has spec.default: true, and none has.'
// A client may send any text as a name.
const maxShownLength = 400
// The names that a mistyped name is compared with.
const maxCompared = 200

/** The model that serves a request. */
export interface ChatTarget {
  /** The client's name of the model. It is also the name in the reply. */
  requestedName: string
  /** The engine's name of it: a base model's canonical name, or a checkpoint's id. */
  engineName: string
  /** metadata.name of the BaseModel whose engines serve it. */
  baseModelCrName: string
  /** Whether the model was made through this service. Its samples are used for training. */
  trainable: boolean
  /** What its usage is charged to. */
  charged: Pick<UsageAccount, 'project' | 'modelId' | 'baseModel'>
}

/**
 * Finds the model that a name means for an entity. A request without a name gets the default base model.
 *
 * @throws {HttpError} 404 for a model or a step that does not exist or belongs to another entity
 */
export async function resolveModel(pool: Pool, entity: string, requested: string | undefined): Promise<ChatTarget> {
  if (!requested) return resolveDefaultBaseModel(pool)
  const baseModel = await findBaseModel(pool, requested)
  if (baseModel) return targetBaseModel(requested, baseModel)
  const address = parseModelAddress(requested)
  if (address?.entity !== entity) throw await describeUnknown(pool, entity, requested)
  return resolveAddress(pool, requested, address)
}

async function resolveAddress(pool: Pool, requested: string, address: ModelAddress): Promise<ChatTarget> {
  const served = await findServedModel(pool, address, address)
  if (!served) throw await describeUnknown(pool, address.entity, requested)
  if (address.alias !== null && served.step === null) {
    throw new HttpError(errors.model_not_found, `The model ${addressName(address)} has no alias ${address.alias}.`)
  }
  if (served.step && !served.checkpointId) {
    throw new HttpError(
      errors.model_not_found,
      `The model ${addressName(address)} has no checkpoint for step ${served.step}.`,
    )
  }
  if (served.baseModelCrName === null) {
    throw new HttpError(errors.engine_unavailable, `The base model ${served.baseModel} is not being served.`, {
      retryAfterSeconds: 10,
    })
  }
  const engineName = (served.step === 0 ? null : served.checkpointId) ?? served.baseModel
  const charged = { project: address.project, modelId: served.modelId, baseModel: served.baseModel }
  return { requestedName: requested, engineName, baseModelCrName: served.baseModelCrName, trainable: true, charged }
}

async function resolveDefaultBaseModel(pool: Pool): Promise<ChatTarget> {
  const baseModel = pickDefaultBaseModel(await listBaseModels(pool))
  if (baseModel) return targetBaseModel(baseModel.name, baseModel)
  throw unprocessable({ loc: ['body', 'model'], msg: noDefault, type: 'missing' })
}

function targetBaseModel(requestedName: string, baseModel: { name: string; crName: string }): ChatTarget {
  const { name, crName } = baseModel
  const charged = { project: null, modelId: null, baseModel: name }
  return { requestedName, engineName: name, baseModelCrName: crName, trainable: false, charged }
}

function addressName({ entity, project, name }: Pick<ModelAddress, 'entity' | 'project' | 'name'>): string {
  return `${entity}/${project}/${name}`
}

/** The error is the same for a model that never existed, that was deleted, or that belongs to another entity. */
async function describeUnknown(pool: Pool, entity: string, requested: string): Promise<HttpError> {
  const [models, baseModels] = await Promise.all([listNewestModels(pool, entity, maxCompared), listBaseModels(pool)])
  const names = [...models.map(addressName), ...baseModels.slice(0, maxCompared).map(({ name }) => name)]
  const shown = requested.slice(0, maxShownLength)
  const similar = findSimilarNames(shown, names)
  const advice = similar.length > 0 ? `Is ${joinNames(similar)} meant?` : 'GET /v1/models lists all models.'
  return new HttpError(errors.model_not_found, `The model ${shown} does not exist. ${advice}`)
}

/** `a`, `a or b`, `a, b or c`. */
function joinNames(names: string[]): string {
  const last = names.at(-1) ?? ''
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} or ${last}` : last
}
