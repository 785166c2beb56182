import type { BaseModel } from '../../crds/generated.ts'
import type { Logger } from '../../lib/log.ts'
import type { ObjectCache } from '../../lib/kube/reflector.ts'
import { listBaseModelsNamed, listEngines } from '../component-pods.ts'
import { listAdapters, unloadAdapter, type Engine } from '../engine-client.ts'
import type { Pod } from '../../lib/kube/objects.ts'

// The kubelet restarts an engine that does not answer for this long. A restart unloads all adapters.
const maxUnansweredSeconds = 600

/** What unloading adapters needs. */
export interface EngineDeps {
  /** The keys that engines may require, the current one first. */
  engineKeys: readonly string[]
  baseModels: ObjectCache<BaseModel>
  pods: ObjectCache<Pod>
  log: Logger
}

/** Deleted adapters of one base model. Each is named by the id of its checkpoint. */
export interface DeletedAdapters {
  /** the canonical name */
  baseModel: string
  ids: string[]
  /** The time since the oldest of their deletions. */
  ageSeconds: number
}

/**
 * Unloads adapters from every engine of their base model that has them, Ready or not.
 *
 * @throws if an engine does not answer, so that the caller repeats it. Stops throwing ten minutes after the deletion
 */
export async function unloadAdapters(deps: EngineDeps, deleted: DeletedAdapters): Promise<void> {
  const { baseModel, ids, ageSeconds } = deleted
  if (ids.length === 0) return
  const wanted = new Set(ids)
  const resources = listBaseModelsNamed(deps.baseModels, baseModel)
  for (const pod of resources.flatMap(({ metadata }) => listEngines(deps.pods, metadata.name ?? ''))) {
    try {
      await unloadFrom({ pod, keys: deps.engineKeys }, wanted)
    } catch (error) {
      if (ageSeconds < maxUnansweredSeconds) throw error
      deps.log.warn({ pod: pod.metadata.name, error }, 'an engine did not unload deleted adapters')
    }
  }
}

async function unloadFrom(engine: Engine, wanted: ReadonlySet<string>): Promise<void> {
  for (const id of await listAdapters(engine)) if (wanted.has(id)) await unloadAdapter(engine, id)
}
