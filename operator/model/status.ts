import type { Model } from '../../crds/generated.ts'
import { conditions, reasons, servedName } from '../../crds/names.ts'
import type { OperatorModel } from '../../db/queries/operator-models.ts'
import { fact, mergeConditions } from '../conditions.ts'

export type ModelStatus = NonNullable<Model['status']>

/** The status of a model that is taken in: Ready when an engine of its base model answers. */
export function describeModel(resource: Model, row: OperatorModel, readyEngines: number, now: Date): ModelStatus {
  const ready =
    readyEngines > 0
      ? fact(conditions.ready, true, reasons.ready, `${readyEngines} engines answer for it.`)
      : fact(conditions.ready, false, reasons.engineNotReady, `No engine of ${row.baseModel} answers.`)
  const accepted = fact(conditions.accepted, true, reasons.accepted, `Served as ${servedName(row)}.`)
  const generation = resource.metadata.generation ?? 0
  return {
    observedGeneration: generation,
    id: row.id,
    servedName: servedName(row),
    latestStep: row.latestStep,
    checkpoints: row.checkpoints,
    reason: ready.reason,
    conditions: mergeConditions(resource.status?.conditions, [accepted, ready], generation, now),
  }
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
