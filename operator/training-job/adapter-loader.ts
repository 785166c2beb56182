import { setTimeout as delay } from 'node:timers/promises'
import type { BaseModel } from '../../crds/generated.ts'
import { recordLoadError } from '../../db/checkpoints/load-errors.ts'
import { isCheckpointThere } from '../../db/deletion/checkpoints.ts'
import type { Pool } from '../../db/pool.ts'
import type { Pod } from '../../lib/kube/objects.ts'
import type { ObjectCache } from '../../lib/kube/reflector.ts'
import type { Logger } from '../../lib/log.ts'
import { listBaseModelsNamed, listReadyEngines } from '../component-pods.ts'
import { readEngineError, requestEngine, type Engine } from '../engine-client.ts'
import type { Publication } from './status.ts'

const retryMs = 500
// An engine that has read an adapter and refuses it this often needs another adapter, or other settings.
const maxRejections = 3
// vLLM's answers for an adapter that is damaged, missing, or does not fit its settings.
const rejectedStatuses: ReadonlySet<number> = new Set([400, 404, 500])

export interface LoaderDeps {
  pool: Pool
  log: Logger
  /** The keys that engines may require, the current one first. */
  engineKeys: readonly string[]
  baseModels: ObjectCache<BaseModel>
  pods: ObjectCache<Pod>
}

interface Load {
  /** The canonical name. */
  baseModel: string
  checkpointId: string
  deadline: AbortSignal
}

/** An engine's answer that says that it cannot load an adapter. */
class AdapterRejected extends Error {
  override readonly name = 'AdapterRejected'
}

/** Loads adapters on engines before the first request does, and records those that no engine will load. */
export class AdapterLoader {
  readonly #deps: LoaderDeps

  constructor(deps: LoaderDeps) {
    this.#deps = deps
  }

  /** Loads the adapter of a checkpoint on every Ready engine of its base model. */
  async load(load: Load): Promise<Publication> {
    const pods = this.#listEngines(load.baseModel)
    const results = await Promise.all(pods.map((pod) => this.#loadOn(pod, load)))
    const rejection = results.find((result) => result instanceof AdapterRejected)
    const loaded = results.filter((result) => result === true).length
    // Engines that were not asked, or have not answered, change nothing.
    if (rejection || (loaded > 0 && loaded === pods.length)) {
      await recordLoadError(this.#deps.pool, load.checkpointId, rejection?.message ?? null)
    }
    return { asked: pods.length, loaded }
  }

  /** Tries until the pod has the checkpoint or refuses it, is no longer Ready, or nobody needs the result any more. */
  async #loadOn(pod: Pod, load: Load): Promise<boolean | AdapterRejected> {
    let rejected = 0
    while (await this.#isWanted(pod, load)) {
      try {
        await loadAdapter({ pod, keys: this.#deps.engineKeys }, load)
        return true
      } catch (error) {
        const fields = { pod: pod.metadata.name, checkpoint: load.checkpointId, error }
        this.#deps.log.warn(fields, 'an engine did not load a checkpoint')
        if (error instanceof AdapterRejected && ++rejected === maxRejections) return error
      }
      await delay(retryMs, undefined, { signal: load.deadline }).catch(() => {})
    }
    return false
  }

  async #isWanted(pod: Pod, { baseModel, checkpointId, deadline }: Load): Promise<boolean> {
    if (deadline.aborted) return false
    const isReady = this.#listEngines(baseModel).some(({ metadata }) => metadata.uid === pod.metadata.uid)
    return isReady && isCheckpointThere(this.#deps.pool, checkpointId)
  }

  #listEngines(baseModel: string): Pod[] {
    const { baseModels, pods } = this.#deps
    return listBaseModelsNamed(baseModels, baseModel).flatMap(({ metadata }) =>
      listReadyEngines(pods, metadata.name ?? ''),
    )
  }
}

/** Makes the engine load the adapter, with a completion of one token. @throws {AdapterRejected} if it cannot */
async function loadAdapter(engine: Engine, { checkpointId, deadline }: Load): Promise<void> {
  const body = { model: checkpointId, prompt: 'a', max_tokens: 1 }
  const response = await requestEngine(engine, '/v1/completions', { body, signal: deadline })
  if (!response.ok) {
    const error = await readEngineError(response)
    throw rejectedStatuses.has(response.status) ? new AdapterRejected(error.message) : error
  }
  await response.text()
}
