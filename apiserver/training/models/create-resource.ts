import { HttpError, unprocessable, valueError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import { buildModel } from '../../../crds/manifests.ts'
import { isReservedProject, servedName } from '../../../crds/names.ts'
import type { BaseModelRow } from '../../../db/base-models/base-models.ts'
import { markModelResourceCreated } from '../../../db/models/missing-resources.ts'
import type { ModelName, ModelRow } from '../../../db/models/models.ts'
import type { Kube } from '../../kube.ts'
import type { Logger } from '../../../lib/log.ts'
import type { Pool } from '../../../db/pool.ts'
import { defaultProject, generateModelName } from '../../accounts/names.ts'

/** What creating resources of models needs. */
export interface ResourceDeps {
  kube: Kube
  log: Logger
  pool: Pool
}

/** A new model's name in the request. Missing parts are chosen. */
export interface WantedName {
  entity?: string | null | undefined
  project?: string | null | undefined
  name?: string | null | undefined
}

/** The name of a new model with this id. @throws {HttpError} 403 for another entity, 422 for a reserved name */
export function nameModel(id: string, entity: string, wanted: WantedName): ModelName {
  if ((wanted.entity ?? entity) !== entity) {
    throw new HttpError(
      errors.foreign_entity,
      `This key belongs to the entity ${entity}. It cannot create models of another entity.`,
    )
  }
  const project = wanted.project ?? defaultProject
  if (isReservedProject(project)) {
    throw unprocessable(valueError(['body', 'project'], 'this name is reserved'))
  }
  return { entity, project, name: wanted.name ?? generateModelName(id) }
}

/** The error for a name that another model has. `hint` says what to do. */
export function nameTaken(name: ModelName, hint: string): HttpError {
  return new HttpError(errors.conflict, `A model with the name ${servedName(name)} already exists; ${hint}.`)
}

/** If Kubernetes is unavailable, the model exists anyway: the operator creates the resource later. */
export async function createResource(
  { kube, pool, log }: ResourceDeps,
  model: ModelRow,
  { crName }: Pick<BaseModelRow, 'crName'>,
): Promise<void> {
  try {
    await kube.createResource('Model', buildModel({ ...model, baseModelCrName: crName }))
    await markModelResourceCreated(pool, model.id)
  } catch (error) {
    log.warn({ error, modelId: model.id }, 'model resource not made, left to the operator')
  }
}
