import type { BaseModel } from '../../crds/generated.ts'
import { countEngineDemand } from '../../db/demand/engine-demand.ts'
import { countTrainerDemand } from '../../db/demand/trainer-demand.ts'
import type { Pool } from '../../db/pool.ts'
import type { Pod } from '../../lib/kube/objects.ts'
import { isColocated } from './colocation.ts'
import type { Scales } from './engine/scales.ts'

// The defaults of the schema.
const defaultMin = 1
const defaultTarget = 64
const defaultDelaySeconds = 300
const defaultIdleSeconds = 300
const defaultMaxJobs = 4

interface Deps {
  pool: Pool
  namespace: string
  scales: Scales
}

/** Decides how many engines a base model has. @param current how many its Deployment wants now */
export async function decideEngines(deps: Deps, { metadata, spec }: BaseModel, current: number): Promise<number> {
  const { replicas = defaultMin, autoscaling } = spec.engine ?? {}
  const name = metadata.name ?? ''
  if (!autoscaling) return replicas
  const { min = defaultMin, max, targetInFlight = defaultTarget } = autoscaling
  const requests = await countEngineDemand(deps.pool, deps.namespace, name)
  const delayMs = (autoscaling.scaleDownDelaySeconds ?? defaultDelaySeconds) * 1_000
  const needed = Math.ceil(requests / targetInFlight)
  return deps.scales.decide(nameEngineScale(name), { min, max, delayMs }, { nowMs: performance.now(), current, needed })
}

/** What is known of a base model's trainers. */
interface TrainersNow {
  pods: Pod[]
  /** The uids of pods that train a job now. */
  busyPods: ReadonlySet<string>
}

/**
 * Decides how many trainer pods a base model has. Those that train now are needed, whatever they could share. A colocated
 * trainer has no pod of its own.
 */
export async function decideTrainers(
  deps: Deps,
  baseModel: BaseModel,
  { pods, busyPods }: TrainersNow,
): Promise<number> {
  if (isColocated(baseModel)) return 0
  const { metadata, spec } = baseModel
  const { warm = {}, maxJobs = defaultMaxJobs } = spec.trainer ?? {}
  const { min = defaultMin, max = min, idleSeconds = defaultIdleSeconds } = warm
  if (max === min) return min
  const models = await countTrainerDemand(deps.pool, spec.names[0] ?? '')
  const busy = pods.filter((pod) => busyPods.has(pod.metadata.uid ?? '')).length
  const needed = Math.max(busy, Math.ceil(models / maxJobs))
  const current = pods.filter((pod) => pod.metadata.deletionTimestamp === undefined).length
  const bounds = { min, max, delayMs: idleSeconds * 1_000 }
  return deps.scales.decide(nameTrainerScale(metadata.name ?? ''), bounds, {
    nowMs: performance.now(),
    current,
    needed,
  })
}

/** Forgets what a base model needed whose resource is gone. */
export function forgetDemand(scales: Scales, baseModelName: string): void {
  scales.forget(nameEngineScale(baseModelName))
  scales.forget(nameTrainerScale(baseModelName))
}

function nameEngineScale(name: string): string {
  return `engine/${name}`
}

function nameTrainerScale(name: string): string {
  return `trainer/${name}`
}
