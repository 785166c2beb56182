import type { Model } from '../../crds/generated.ts'
import { reasons, servedName } from '../../crds/names.ts'
import type { OperatorModel } from '../../db/queries/operator-models.ts'

/** What a Model resource refers to, and the row that has its name. */
export interface ModelFacts {
  resource: Model
  namespace: string
  baseModelExists: boolean
  /** the canonical name of its base model, when that is taken in */
  baseModel: string | undefined
  row: OperatorModel | undefined
}

export type ModelPlan =
  | { do: 'refuse'; reason: string; message: string }
  | { do: 'insert'; baseModel: string; reason: string }
  | { do: 'tie'; id: string; reason: string }
  | { do: 'accept'; row: OperatorModel }

/** The next step of a Model: take its name in Postgres, find its row again, or say why it cannot be taken in. */
export function planModel({ resource, namespace, baseModelExists, baseModel, row }: ModelFacts): ModelPlan {
  const name = servedName(resource.spec)
  const refuse = (reason: string, message: string): ModelPlan => ({ do: 'refuse', reason, message })
  const base = resource.spec.baseModelRef.name
  if (!baseModelExists) return refuse(reasons.baseModelNotFound, `There is no BaseModel ${base} yet.`)
  if (baseModel === undefined) return refuse(reasons.baseModelNotAccepted, `BaseModel ${base} is not accepted.`)
  if (!row) return { do: 'insert', baseModel, reason: 'made with kubectl' }
  const isOurs = row.namespace === namespace && row.crName === resource.metadata.name
  if (!isOurs && row.hiddenAt === null) {
    return refuse(reasons.nameConflict, `The name ${name} belongs to Model ${row.namespace}/${row.crName}.`)
  }
  if (row.baseModel !== baseModel) {
    return refuse(reasons.nameConflict, `${name} has been trained from ${row.baseModel}, not from ${baseModel}.`)
  }
  if (isOurs && row.hiddenAt === null && row.crMadeAt !== null) return { do: 'accept', row }
  return { do: 'tie', id: row.id, reason: row.hiddenAt ? 'applied again' : 'its resource is there' }
}
