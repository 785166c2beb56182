import type { Model } from '../../crds/generated.ts'
import { conditions, reasons, servedName } from '../../crds/names.ts'
import type { OperatorModel } from '../../db/models/resources.ts'
import { fact, mergeConditions, type Fact } from '../conditions.ts'

export type ModelStatus = NonNullable<Model['status']>

/** What is known of a model beside its row. */
export interface ModelSurroundings {
  readyEngines: number
  /** aliases of the resource that could not be taken over */
  unapplied: string[]
  now: Date
}

/** The status of a model that is taken in: Ready when an engine of its base model answers. */
export function describeModel(resource: Model, row: OperatorModel, around: ModelSurroundings): ModelStatus {
  const ready = describeReady(row, around.readyEngines)
  const accepted = fact(conditions.accepted, true, reasons.accepted, `Served as ${servedName(row)}.`)
  const facts = [accepted, ready, ...describeAliases(resource, around.unapplied)]
  const generation = resource.metadata.generation ?? 0
  return {
    observedGeneration: generation,
    id: row.id,
    servedName: servedName(row),
    latestStep: row.latestStep,
    checkpoints: row.checkpoints,
    ...(Object.keys(row.aliases).length > 0 && { aliases: row.aliases }),
    reason: ready.reason,
    conditions: mergeConditions(resource.status?.conditions, facts, generation, around.now),
  }
}

function describeReady(row: OperatorModel, engines: number): Fact {
  if (engines > 0) return fact(conditions.ready, true, reasons.ready, `${engines} engines answer for it.`)
  return fact(conditions.ready, false, reasons.engineNotReady, `No engine of ${row.baseModel} answers.`)
}

/** Nothing for a resource that names no step. */
function describeAliases({ spec }: Model, unapplied: string[]): Fact[] {
  const type = conditions.aliasesApplied
  if (Object.keys(spec.aliases ?? {}).length === 0) return []
  if (unapplied.length === 0) return [fact(type, true, reasons.aliasesApplied, 'The steps go by their aliases.')]
  const message = `No step of the model can go by: ${unapplied.join(', ')}. The step must be there, and the name allowed.`
  return [fact(type, false, reasons.stepNotFound, message)]
}

/** The status of a model that is not taken in, and why. */
export function describeRefusedModel(resource: Model, reason: string, message: string, now: Date): ModelStatus {
  const facts = [fact(conditions.accepted, false, reason, message), fact(conditions.ready, false, reason, message)]
  const generation = resource.metadata.generation ?? 0
  return {
    observedGeneration: generation,
    servedName: servedName(resource.spec),
    reason,
    conditions: mergeConditions(resource.status?.conditions, facts, generation, now),
  }
}
