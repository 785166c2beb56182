import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { BaseModel } from '../../crds/generated.ts'
import { labels } from '../../crds/names.ts'
import { isCheckpointThere } from '../../db/deletion/checkpoints.ts'
import { recordLoad } from '../../db/engines/loaded-adapters.ts'
import type { Pool } from '../../db/pool.ts'
import { isReady, type Pod } from '../../lib/kube/objects.ts'
import type { ObjectCache } from '../../lib/kube/reflector.ts'
import type { Logger } from '../../lib/log.ts'
import { listBaseModelsNamed, listReadyEngines } from '../component-pods.ts'
import { AdapterRejected, loadAdapter } from '../engine-client.ts'
import type { OperatorEvents } from '../metrics/events.ts'
import { findEngineContainer } from './engine-container.ts'

const retryMs = 500
// An engine that has read an adapter and refuses it this often needs another adapter, or other settings.
const maxRejections = 3

export interface LoaderDeps {
  pool: Pool
  log: Logger
  /** The keys that engines may require, the current one first. */
  engineKeys: readonly string[]
  baseModels: ObjectCache<BaseModel>
  pods: ObjectCache<Pod>
  events: OperatorEvents
}

/** A checkpoint that engines load, and how long this may take. */
export interface Load {
  checkpointId: string
  deadline: AbortSignal
}

/** Loads adapters on engines before the first request does, and records which engine has loaded or refused which. */
export class AdapterLoader {
  readonly #deps: LoaderDeps

  constructor(deps: LoaderDeps) {
    this.#deps = deps
  }

  /** The Ready engines of a base model, by its canonical name. */
  listEngines(baseModel: string): Pod[] {
    const { baseModels, pods } = this.#deps
    return listBaseModelsNamed(baseModels, baseModel).flatMap(({ metadata }) =>
      listReadyEngines(pods, metadata.name ?? ''),
    )
  }

  /** Loads an adapter on each of these pods. Returns how many have loaded it. */
  async loadOnAll(pods: Pod[], load: Load): Promise<number> {
    const results = await Promise.all(pods.map((pod) => this.loadOn(pod, load)))
    return results.filter((isLoaded) => isLoaded).length
  }

  /** Tries until the pod has the adapter or refuses it, is no longer Ready, or nobody needs the result any more. */
  async loadOn(pod: Pod, load: Load): Promise<boolean> {
    const result = await this.#tryOn(pod, load)
    // An engine that has not answered changes nothing.
    if (result === undefined) return false
    const { checkpointId } = load
    await recordLoad(this.#deps.pool, findEngineContainer(pod), { checkpointId, error: result?.message ?? null })
    return result === null
  }

  /** Returns null if the adapter is loaded, why the engine refuses it, or undefined if it is neither. */
  async #tryOn(pod: Pod, load: Load): Promise<AdapterRejected | null | undefined> {
    const { log } = this.#deps
    let rejected = 0
    while (await this.#isWanted(pod, load)) {
      try {
        await this.#loadOnce(pod, load)
        return null
      } catch (error) {
        log.warn(
          { pod: pod.metadata.name, checkpoint: load.checkpointId, error },
          'an engine did not load a checkpoint',
        )
        if (error instanceof AdapterRejected && ++rejected === maxRejections) return error
      }
      await delay(retryMs, undefined, { signal: load.deadline }).catch(() => {})
    }
    return undefined
  }

  async #loadOnce(pod: Pod, { checkpointId, deadline }: Load): Promise<void> {
    const { events, engineKeys: keys } = this.#deps
    const baseModel = pod.metadata.labels?.[labels.baseModel] ?? ''
    const startMs = performance.now()
    try {
      await loadAdapter({ pod, keys }, checkpointId, deadline)
      events.recordLoaded(baseModel, (performance.now() - startMs) / 1000)
    } catch (error) {
      events.recordNotLoaded(baseModel, error instanceof AdapterRejected ? 'rejected' : 'failed')
      throw error
    }
  }

  async #isWanted(pod: Pod, { checkpointId, deadline }: Load): Promise<boolean> {
    if (deadline.aborted) return false
    const now = this.#deps.pods.get(pod.metadata.name ?? '')
    const isSame = now !== undefined && isDeepStrictEqual(findEngineContainer(now), findEngineContainer(pod))
    return isSame && isReady(now) && isCheckpointThere(this.#deps.pool, checkpointId)
  }
}
