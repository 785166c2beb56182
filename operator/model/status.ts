import type { Model } from '../../crds/generated.ts'
import { conditions, reasons, servedName } from '../../crds/names.ts'
import type { EngineContainer } from '../../db/engines/loaded-adapters.ts'
import type { OperatorModel } from '../../db/models/resources.ts'
import { buildCondition, mergeConditions, summarize, type ConditionInput, type StatusReason } from '../conditions.ts'
import {
  countAdapters,
  describeAdapters,
  describeDegraded,
  describeKeeping,
  type Keeping,
} from './adapter-conditions.ts'

export type ModelStatus = NonNullable<Model['status']>

/** The input of a model's status, besides its row. */
export interface ModelContext {
  /** The containers of Ready engines. */
  engines: EngineContainer[]
  /** No engine runs, and the next chat starts one. */
  isScaledToZero: boolean
  /** Undefined without spec.keepLoaded. */
  keeping: Keeping | undefined
  /** Aliases of the resource that could not be set. */
  unapplied: string[]
  now: Date
}

/** The status of an accepted model. It is Ready when an engine of its base model answers, or will. */
export function describeModel(resource: Model, row: OperatorModel, context: ModelContext): ModelStatus {
  const ready = describeReady(row, context)
  const message = `Served as ${servedName(row)}.`
  const accepted = buildCondition(conditions.accepted, true, { reason: reasons.accepted, message })
  const counts = countAdapters(row, context.engines)
  const { refused, ...engines } = counts
  const degraded = describeDegraded(row, counts)
  const inputs = [
    accepted,
    ready,
    describeAdapters(row, counts, context.keeping),
    degraded,
    ...describeKeeping(row, context.keeping),
    ...describeAliases(resource, context.unapplied),
  ]
  return {
    id: row.id,
    servedName: servedName(row),
    latestStep: row.latestStep,
    checkpoints: row.checkpoints,
    engines: { ...engines, summary: `${engines.loaded}/${engines.ready}` },
    ...(Object.keys(row.aliases).length > 0 && { aliases: row.aliases }),
    ...summarize(refused.length === 0 ? ready : degraded),
    ...mergeConditions(resource, inputs, context.now),
  }
}

function describeReady(
  row: OperatorModel,
  { engines: { length: engines }, isScaledToZero }: ModelContext,
): ConditionInput {
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
