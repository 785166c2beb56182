import { HttpError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import { findBaseModel } from '../../../db/base-models/base-models.ts'
import { findModelByName } from '../../../db/models/models.ts'
import type { Pool } from '../../../db/pool.ts'
import { parseModelAddress } from './model-address.ts'
import { presentBaseModelAs, presentModelAs, type ModelItem } from '../present.ts'
import { resolveModel } from './resolve-model.ts'

/**
 * Returns the item of `GET /v1/models` for a name that a chat may use. The id of the item is that name.
 *
 * @throws {HttpError} 404 as `resolveModel` does
 */
export async function findModelItem(pool: Pool, entity: string, name: string): Promise<ModelItem> {
  const baseModel = await findBaseModel(pool, name)
  if (baseModel) return presentBaseModelAs(name, baseModel)
  const address = parseModelAddress(name)
  // A model without a step is listed whether engines serve it or not. For all other names, the rules of chats apply.
  const isListed = address?.entity === entity && address.step === null && address.alias === null
  const model = address && (await findModelByName(pool, address))
  if (!isListed || !model || model.hiddenAt !== null) await resolveModel(pool, entity, name)
  if (!model) throw new HttpError(errors.model_not_found)
  return presentModelAs(name, model)
}
