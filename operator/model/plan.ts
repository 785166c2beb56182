import type { Model } from '../../crds/generated.ts'
import { reasons, servedName } from '../../crds/names.ts'
import type { ModelPolicies, OperatorModel } from '../../db/models/resources.ts'

/** What a Model resource refers to, and the row that has its name. */
export interface ModelFacts {
  resource: Model
  namespace: string
  baseModelExists: boolean
  /** The canonical name of its base model, if that is accepted. */
  baseModel: string | undefined
  row: OperatorModel | undefined
  /** Its model was deleted. */
  isDeleted: boolean
}

export type ModelPlan =
  | { do: 'reject'; reason: string; message: string }
  | { do: 'insert'; baseModel: string; reason: string }
  | { do: 'tie'; id: string; reason: string }
  | { do: 'update'; id: string; policies: ModelPolicies; reason: string }
  | { do: 'delete' }
  | { do: 'accept'; row: OperatorModel }

/** The rejection of a Model that names an entity of others. Nothing of the entity is read for it. */
export function rejectEntity(namespace: string, entity: string): Extract<ModelPlan, { do: 'reject' }> {
  const message = `Resources in the namespace ${namespace} may not name the entity ${entity}. The chart's value tenants has their entities.`
  return { do: 'reject', reason: reasons.entityNotAllowed, message }
}

/**
 * Plans the next step of a Model: insert its row, assign it to its row again, accept it, or reject it with a reason.
 */
export function planModel(facts: ModelFacts): ModelPlan {
  const { resource, namespace, baseModelExists, baseModel, row } = facts
  // A deleted model stays deleted, even if another model has its name now.
  if (facts.isDeleted) return { do: 'delete' }
  const name = servedName(resource.spec)
  const reject = (reason: string, message: string): ModelPlan => ({ do: 'reject', reason, message })
  const base = resource.spec.baseModelRef.name
  if (!baseModelExists) return reject(reasons.baseModelNotFound, `There is no BaseModel ${base} yet.`)
  if (baseModel === undefined) return reject(reasons.baseModelNotAccepted, `BaseModel ${base} is not accepted.`)
  if (!row) return { do: 'insert', baseModel, reason: 'made with kubectl' }
  const isOurs = row.namespace === namespace && row.crName === resource.metadata.name
  if (!isOurs && row.hiddenAt === null) {
    return reject(reasons.nameConflict, `The name ${name} belongs to Model ${row.namespace}/${row.crName}.`)
  }
  if (row.baseModel !== baseModel) {
    return reject(reasons.nameConflict, `${name} is trained from ${row.baseModel}, not from ${baseModel}.`)
  }
  if (!isOurs || row.hiddenAt !== null || row.resourceCreatedAt === null) {
    return { do: 'tie', id: row.id, reason: row.hiddenAt ? 'applied again' : 'its resource is there' }
  }
  const { deletionPolicy = 'Retain', keepLoaded = false } = resource.spec
  if (row.deletionPolicy === deletionPolicy && row.keepLoaded === keepLoaded) return { do: 'accept', row }
  return { do: 'update', id: row.id, policies: { deletionPolicy, keepLoaded }, reason: 'other policies' }
}
