import { Counter, Gauge, type Registry } from 'prom-client'
import { labels } from '../../crds/names.ts'
import { listBusyPods } from '../../db/jobs/busy-trainers.ts'
import type { Pool } from '../../db/pool.ts'
import { uidOf, type Pod } from '../../lib/kube/objects.ts'
import type { ObjectCache } from '../../lib/kube/reflector.ts'
import type { Logger } from '../../lib/log.ts'
import { repeat } from '../../lib/repeat.ts'
import { isEngineBusy } from './engine-load.ts'
import { countGpus, isOnNode, stateOf, type PodState } from './pod-state.ts'
import { operatorMetrics } from './table.ts'

// Each sample reads the metrics of every engine, which costs the engine some milliseconds.
const sampleMs = 10_000
// After a pause of this process, nobody knows what pods did meanwhile.
const maxSampleSeconds = 30

interface Deps {
  pool: Pool
  pods: ObjectCache<Pod>
  log: Logger
}

type PodLabels = 'base_model' | 'role' | 'state'

/** Samples what the pods of base models do, and counts the seconds and GPU seconds of each state. */
export class PodTimes {
  readonly #deps: Deps
  readonly #podSeconds: Counter<PodLabels>
  readonly #gpuSeconds: Counter<PodLabels>
  readonly #pods: Gauge<PodLabels>
  #sampledMs = performance.now()

  constructor(registry: Registry, deps: Deps) {
    const registers = [registry]
    const { counters, gauges } = operatorMetrics
    this.#deps = deps
    this.#podSeconds = new Counter({ ...counters.podSeconds, registers })
    this.#gpuSeconds = new Counter({ ...counters.gpuSeconds, registers })
    this.#pods = new Gauge({ ...gauges.pods, registers })
  }

  /** Returns a function that ends the sampling. */
  start(): () => Promise<void> {
    const stop = new AbortController()
    const onError = (error: unknown) => this.#deps.log.warn({ error }, 'pods not sampled')
    this.#sampledMs = performance.now()
    const running = repeat(() => this.#sample(), { pauseMs: sampleMs, signal: stop.signal, onError })
    return async () => {
      stop.abort()
      this.#pods.reset()
      await running
    }
  }

  async #sample(): Promise<void> {
    const { pool, pods } = this.#deps
    const busyTrainers = await listBusyPods(pool)
    const found = await Promise.all(
      pods
        .list()
        .filter(isOnNode)
        .map(async (pod) => {
          const { [labels.baseModel]: baseModel = '', [labels.component]: role = '' } = pod.metadata.labels ?? {}
          const isBusy = busyTrainers.has(uidOf(pod)) || (role === 'engine' && (await isEngineBusy(pod)))
          return { baseModel, role, state: stateOf(pod, isBusy), gpus: countGpus(pod) }
        }),
    )
    this.#count(found)
  }

  #count(pods: { baseModel: string; role: string; state: PodState; gpus: number }[]): void {
    const nowMs = performance.now()
    const seconds = Math.min((nowMs - this.#sampledMs) / 1000, maxSampleSeconds)
    this.#sampledMs = nowMs
    this.#pods.reset()
    for (const { baseModel, role, state, gpus } of pods) {
      const of = { base_model: baseModel, role, state }
      this.#pods.inc(of)
      this.#podSeconds.inc(of, seconds)
      this.#gpuSeconds.inc(of, gpus * seconds)
    }
  }
}
