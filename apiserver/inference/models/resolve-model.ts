import { HttpError, unprocessable } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import { findBaseModel, listBaseModels } from '../../../db/base-models/base-models.ts'
import { findModelByLastName } from '../../../db/models/models.ts'
import { findServedModel } from '../../../db/models/served.ts'
import type { UsageAccount } from '../../../db/accounts/chat-usage.ts'
import type { Pool } from '../../../db/pool.ts'
import { isName } from '../../accounts/names.ts'
import { pickDefaultBaseModel } from './default-base-model.ts'
import { parseModelAddress, type ModelAddress } from './model-address.ts'

const noDefault =
  'Field required: name one of the models that GET /v1/models lists. A chat without a model means the base model whose ' +
  'BaseModel has spec.default: true, and none has.'
// A client may send any text as a name.
const maxShownLength = 400

/** What answers a chat request. */
export interface ChatTarget {
  /** What the client calls the model, and reads in the reply. */
  requestedName: string
  /** What the engine calls it: a base model's canonical name, or a checkpoint's id. */
  engineName: string
  /** metadata.name of the BaseModel whose engines serve it. */
  baseModelCrName: string
  /** Whether it was made through this service, and is sampled from in order to be trained on. */
  trainable: boolean
  /** What its use is charged to. */
  charged: Pick<UsageAccount, 'project' | 'modelId' | 'baseModel'>
}

/**
 * Finds what serves a model name for an entity. A request without one means the default base model.
 *
 * @throws {HttpError} 404 for a model, or a step of one, that does not exist or belongs to another entity
 */
export async function resolveModel(pool: Pool, entity: string, requested: string | undefined): Promise<ChatTarget> {
  if (!requested) return resolveDefaultBaseModel(pool)
  const baseModel = await findBaseModel(pool, requested)
  if (baseModel) return targetBaseModel(requested, baseModel)
  const address = parseModelAddress(requested)
  if (!address) throw unknownModel(requested, await findAlike(pool, entity, requested))
  if (address.entity !== entity) throw unknownModel(requested)
  return resolveAddress(pool, requested, address)
}

async function resolveAddress(pool: Pool, requested: string, address: ModelAddress): Promise<ChatTarget> {
  const served = await findServedModel(pool, address, address)
  if (!served) throw unknownModel(requested)
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

/** The whole name of a model of the entity that somebody may mean by the last part of it. */
async function findAlike(pool: Pool, entity: string, name: string): Promise<string | undefined> {
  const model = isName(name) ? await findModelByLastName(pool, entity, name) : undefined
  return model && addressName(model)
}

function unknownModel(requested: string, alike?: string): HttpError {
  const advice = alike === undefined ? 'GET /v1/models lists all models.' : `Is ${alike} meant?`
  return new HttpError(
    errors.model_not_found,
    `The model ${requested.slice(0, maxShownLength)} does not exist. ${advice}`,
  )
}
