import { isDeepStrictEqual } from 'node:util'
import { conditions, reasons } from '../../crds/names.ts'
import type { EngineContainer } from '../../db/engines/loaded-adapters.ts'
import type { OperatorModel } from '../../db/models/resources.ts'
import { buildCondition, type ConditionInput } from '../conditions.ts'

/** Whether a model with spec.keepLoaded is kept loaded. */
export interface Keeping {
  isKept: boolean
  /** How many models of its base model can be. */
  maxKept: number
  /** How many adapters an engine of its base model keeps in memory. */
  maxAdapters: number
}

/** What the Ready engines of a model's base model have said about its newest step. */
export interface AdapterCounts {
  ready: number
  loaded: number
  /** The engines that cannot load it. */
  refused: { podName: string; error: string }[]
}

/** Counts only what the containers have said that are Ready now. */
export function countAdapters({ engineReports }: OperatorModel, engines: EngineContainer[]): AdapterCounts {
  const current = engineReports.filter(({ error: _error, ...container }) =>
    engines.some((engine) => isDeepStrictEqual(engine, container)),
  )
  const refused = current.flatMap(({ podName, error }) => (error === null ? [] : [{ podName, error }]))
  return { ready: engines.length, loaded: current.length - refused.length, refused }
}

/** Describes whether every Ready engine has the newest step in memory. */
export function describeAdapters(
  row: OperatorModel,
  counts: AdapterCounts,
  keeping: Keeping | undefined,
): ConditionInput {
  const { ready, loaded, refused } = counts
  const build = (holds: boolean, reason: string, message: string) =>
    buildCondition(conditions.adaptersLoaded, holds, { reason, message })
  if (row.checkpoints === 0) return build(true, reasons.noCheckpoint, 'It has no step yet: its base model answers.')
  if (ready === 0) return build(false, reasons.engineNotReady, `No engine of ${row.baseModel} is ready.`)
  const count = `Step ${row.latestStep} is loaded on ${loaded} of ${ready} ready engines.`
  if (refused.length > 0) return build(false, reasons.adapterNotLoaded, count)
  if (loaded === ready) return build(true, reasons.loaded, count)
  if (keeping?.isKept) return build(false, reasons.loading, `${count} The others load it now.`)
  return build(false, reasons.loadedOnDemand, `${count} The others load it with its first request.`)
}

/** A model is Degraded while engines cannot load its newest step. Their answer to requests for it is a 503. */
export function describeDegraded({ latestStep }: OperatorModel, { ready, refused }: AdapterCounts): ConditionInput {
  const loads = { reason: reasons.servesNewestStep, message: 'No engine has refused its newest step.' }
  const [first] = refused
  if (!first) return buildCondition(conditions.degraded, false, loads)
  const message =
    `Step ${latestStep} is not served by ${refused.length} of ${ready} engines. ${first.podName}: ${first.error}. ` +
    "The engine's log says why. It is tried again each minute."
  return buildCondition(conditions.degraded, true, { reason: reasons.adapterNotLoaded, message })
}

/** A resource without keepLoaded has no such condition. */
export function describeKeeping({ baseModel }: OperatorModel, keeping: Keeping | undefined): ConditionInput[] {
  const type = conditions.keptLoaded
  if (!keeping) return []
  const kept = { reason: reasons.keptLoaded, message: 'Its newest step stays loaded on every engine.' }
  if (keeping.isKept) return [buildCondition(type, true, kept)]
  const message =
    `${keeping.maxKept} other models of ${baseModel} are kept loaded, which is the limit: half of ` +
    `engine.maxCpuLoras, ${keeping.maxAdapters}. Raise it in the BaseModel, or set keepLoaded of another model to false.`
  return [buildCondition(type, false, { reason: reasons.keepLoadedLimit, message })]
}
