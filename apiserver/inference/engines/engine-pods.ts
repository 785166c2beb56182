import { labels } from '../../../crds/names.ts'
import type { Logger } from '../../../lib/log.ts'
import type { Kube, Pod, PodWatch } from '../../kube.ts'

/** An engine pod that requests can be sent to. */
export interface EnginePod {
  name: string
  ip: string
}

/**
 * The engine pods of Kubernetes, kept current by a watch. While Kubernetes is not available, the last known pods are
 * used, because engines answer without Kubernetes.
 */
export class EnginePods {
  readonly #watch: PodWatch
  readonly #listeners = new Set<() => void>()
  #ready: ReadonlyMap<string, EnginePod[]> = new Map()

  constructor(kube: Pick<Kube, 'watchPods'>, log: Logger) {
    this.#watch = kube.watchPods({ labelSelector: `${labels.component}=engine`, onChange: () => this.#update(), log })
  }

  /** The pods of a base model that accept requests: Ready, and not Terminating. */
  listReady(baseModelCrName: string): readonly EnginePod[] {
    return this.#ready.get(baseModelCrName) ?? []
  }

  /** Calls `listener` whenever a pod has changed. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener)
  }

  async stop(): Promise<void> {
    await this.#watch.stop()
  }

  #update(): void {
    this.#ready = Map.groupBy(this.#watch.list().flatMap(viewReady), ({ baseModel }) => baseModel)
    for (const listener of this.#listeners) listener()
  }
}

function viewReady({ name, ip, ready, labels: own }: Pod): (EnginePod & { baseModel: string })[] {
  const baseModel = own[labels.baseModel]
  return ready && ip && baseModel ? [{ name, ip, baseModel }] : []
}
