import type { Model } from '../../crds/generated.ts'
import { conditions, reasons, servedName } from '../../crds/names.ts'
import type { OperatorModel } from '../../db/models/resources.ts'
import { buildCondition, mergeConditions, summarize, type ConditionInput, type StatusReason } from '../conditions.ts'

export type ModelStatus = NonNullable<Model['status']>

/** The input of a model's status, besides its row. */
export interface ModelContext {
  readyEngines: number
  /** No engine runs, and the next chat starts one. */
  isScaledToZero: boolean
  /** Aliases of the resource that could not be set. */
  unapplied: string[]
  now: Date
}

/** The status of an accepted model. It is Ready when an engine of its base model answers, or will. */
export function describeModel(resource: Model, row: OperatorModel, context: ModelContext): ModelStatus {
  const ready = describeReady(row, context)
  const message = `Served as ${servedName(row)}.`
  const accepted = buildCondition(conditions.accepted, true, { reason: reasons.accepted, message })
  const degraded = describeDegraded(row)
  const inputs = [accepted, ready, degraded, ...describeAliases(resource, context.unapplied)]
  return {
    id: row.id,
    servedName: servedName(row),
    latestStep: row.latestStep,
    checkpoints: row.checkpoints,
    ...(Object.keys(row.aliases).length > 0 && { aliases: row.aliases }),
    ...summarize(row.loadError === null ? ready : degraded),
    ...mergeConditions(resource, inputs, context.now),
  }
}

/** A model is Degraded while engines cannot load its newest step. Requests for it are a 503. */
function describeDegraded({ latestStep, loadError }: OperatorModel): ConditionInput {
  const loads = { reason: reasons.servesNewestStep, message: 'No engine has refused its newest step.' }
  if (loadError === null) return buildCondition(conditions.degraded, false, loads)
  const message = `Step ${latestStep} is not served: ${loadError}. The engine's log says why. It is tried again each minute.`
  return buildCondition(conditions.degraded, true, { reason: reasons.adapterNotLoaded, message })
}

function describeReady(row: OperatorModel, { readyEngines: engines, isScaledToZero }: ModelContext): ConditionInput {
  const asleep = { reason: reasons.scaledToZero, message: 'No engine runs. The next chat starts one and is held.' }
  if (isScaledToZero) return buildCondition(conditions.ready, true, asleep)
  const answers = { reason: reasons.ready, message: `${engines} engines serve it.` }
  const silent = { reason: reasons.engineNotReady, message: `No engine of ${row.baseModel} is ready.` }
  return buildCondition(conditions.ready, engines > 0, engines > 0 ? answers : silent)
}

/** A resource without aliases has no such condition. */
function describeAliases({ spec }: Model, unapplied: string[]): ConditionInput[] {
  const type = conditions.aliasesApplied
  if (Object.keys(spec.aliases ?? {}).length === 0) return []
  const applied = { reason: reasons.aliasesApplied, message: 'All aliases are set.' }
  if (unapplied.length === 0) return [buildCondition(type, true, applied)]
  const message = `These aliases are not set: ${unapplied.join(', ')}. The step must exist, and the name must be valid.`
  return [buildCondition(type, false, { reason: reasons.stepNotFound, message })]
}

/** The status of a model that is not accepted. One that was accepted before keeps its id and its steps. */
export function describeRejectedModel(resource: Model, why: StatusReason, now: Date): ModelStatus {
  const inputs = [conditions.accepted, conditions.ready].map((type) => buildCondition(type, false, why))
  const { id, latestStep, checkpoints, aliases } = resource.status ?? {}
  const known = id === undefined ? {} : { id, latestStep, checkpoints, ...(aliases && { aliases }) }
  return {
    ...known,
    servedName: servedName(resource.spec),
    ...summarize(why),
    ...mergeConditions(resource, inputs, now),
  }
}
