import type { BaseModel } from '../../crds/generated.ts'
import { labels } from '../../crds/names.ts'
import {
  forgetAdapter,
  forgetPod,
  listPodAdapters,
  recordLoad,
  recordLoadedList,
  type PodAdapter,
} from '../../db/engines/loaded-adapters.ts'
import { listWantedAdapters } from '../../db/engines/wanted-adapters.ts'
import type { Requeue } from '../../lib/kube/queue.ts'
import { isReady, type Pod } from '../../lib/kube/objects.ts'
import { keepAdapters, listAdapters, unloadAdapter } from '../engine-client.ts'
import { AdapterLoader, type LoaderDeps } from './adapter-loader.ts'
import { findEngineContainer } from './engine-container.ts'
import { planAdapters, type AdapterPlan } from './plan.ts'

// An engine loads and displaces adapters by itself.
const resyncMs = 30_000
const loadMs = 30_000
// The maximum of spec.engine.maxCpuLoras.
const maxListed = 10_000

/** Observes what each engine pod has loaded, and changes it as the plan says. Its methods take the name of a pod. */
export class PodAdapters {
  readonly #deps: LoaderDeps
  readonly #loader: AdapterLoader
  readonly #stopping = new AbortController()

  constructor(deps: LoaderDeps) {
    this.#deps = deps
    this.#loader = new AdapterLoader(deps)
  }

  /** Aborts running loads. */
  stop(): void {
    this.#stopping.abort()
  }

  /** Records what a pod has loaded. A pod that is not Ready counts as one that has nothing. */
  async observe(podName: string, onObserved: () => void): Promise<Requeue | void> {
    const { pool, engineKeys: keys } = this.#deps
    const pod = this.#findReady(podName)
    if (!pod) return forgetPod(pool, podName)
    const askedAt = performance.now()
    const ids = (await listAdapters({ pod, keys })).slice(0, maxListed)
    await recordLoadedList(pool, findEngineContainer(pod), { ids, ageMs: performance.now() - askedAt })
    onObserved()
    return { afterMs: resyncMs }
  }

  /** Tells a pod what to keep, unloads its old steps and loads missing ones. */
  async adjust(podName: string): Promise<void> {
    const pod = this.#findReady(podName)
    const baseModel = pod && this.#findBaseModel(pod)
    if (!pod || !baseModel) return
    const { pool, engineKeys: keys } = this.#deps
    const adapters = await listPodAdapters(pool, podName)
    const maxAdapters = maxAdaptersOf(baseModel.spec)
    const wanted = await listWantedAdapters(pool, baseModel.spec.names[0] ?? '', maxAdapters)
    // First, so that what is loaded afterwards displaces none of them.
    await keepAdapters({ pod, keys }, wanted.kept)
    const plan = planAdapters({ adapters, wanted, maxAdapters })
    for (const id of plan.unload) await this.#unload(pod, id)
    await this.#load(pod, plan, adapters)
  }

  async #unload(pod: Pod, id: string): Promise<void> {
    const { pool, engineKeys: keys, log } = this.#deps
    await unloadAdapter({ pod, keys }, id)
    await forgetAdapter(pool, pod.metadata.name ?? '', id)
    log.info({ pod: pod.metadata.name, checkpoint: id }, 'an old step was unloaded')
  }

  async #load(pod: Pod, { load }: AdapterPlan, adapters: PodAdapter[]): Promise<void> {
    for (const checkpointId of load) {
      const error = adapters.find(({ id }) => id === checkpointId)?.error ?? null
      // First, so that one that hangs an engine is not the first again.
      if (error !== null) await recordLoad(this.#deps.pool, findEngineContainer(pod), { checkpointId, error })
      const deadline = AbortSignal.any([AbortSignal.timeout(loadMs), this.#stopping.signal])
      await this.#loader.loadOn(pod, { checkpointId, deadline })
    }
  }

  #findReady(podName: string): Pod | undefined {
    const pod = this.#deps.pods.get(podName)
    return pod && isReady(pod) && pod.status?.podIP !== undefined ? pod : undefined
  }

  #findBaseModel({ metadata }: Pod): BaseModel | undefined {
    return this.#deps.baseModels.get(metadata.labels?.[labels.baseModel] ?? '')
  }
}

/** How many adapters an engine of a base model keeps in memory. The default is that of the schema. */
export function maxAdaptersOf({ engine }: BaseModel['spec']): number {
  return engine?.maxCpuLoras ?? 32
}
