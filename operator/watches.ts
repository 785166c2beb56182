import type { BaseModel, Model, TrainingJob } from '../crds/generated.ts'
import { apiVersion, labels, type Kind } from '../crds/names.ts'
import type { Context } from './context.ts'
import type { KubeObject } from '../lib/kube/apply.ts'
import type { Deployment, Pod } from '../lib/kube/objects.ts'
import { customPath } from '../crds/paths.ts'
import { deploymentPath, podPath } from '../lib/kube/paths.ts'
import { Reflector } from '../lib/kube/reflector.ts'

type Deps = Pick<Context, 'client' | 'namespace' | 'log'>
export type WatchedKind = Kind | 'Pod' | 'Deployment'

/** Copies of all that the operator looks at in its namespace. */
export class Watches {
  readonly baseModels: Reflector<BaseModel>
  readonly models: Reflector<Model>
  readonly trainingJobs: Reflector<TrainingJob>
  readonly pods: Reflector<Pod>
  readonly deployments: Reflector<Deployment>

  constructor({ client, namespace, log }: Deps, onChange: (kind: WatchedKind, object: KubeObject) => void) {
    const custom = <T extends KubeObject>(kind: Kind) => {
      const path = customPath(kind, namespace)
      return new Reflector<T>({ client, path, kind, apiVersion, log, onChange: (object) => onChange(kind, object) })
    }
    const children = <T extends KubeObject>(kind: 'Pod' | 'Deployment', inVersion: string, path: string) =>
      new Reflector<T>({
        client,
        path,
        kind,
        apiVersion: inVersion,
        selector: { labelSelector: labels.baseModel },
        log,
        onChange: (object) => onChange(kind, object),
      })
    this.baseModels = custom<BaseModel>('BaseModel')
    this.models = custom<Model>('Model')
    this.trainingJobs = custom<TrainingJob>('TrainingJob')
    this.pods = children<Pod>('Pod', 'v1', podPath(namespace))
    this.deployments = children<Deployment>('Deployment', 'apps/v1', deploymentPath(namespace))
  }

  /** Starts all and waits until each has its first list. */
  async start(): Promise<void> {
    for (const reflector of this.#all()) reflector.start()
    await Promise.all(this.#all().map((reflector) => reflector.synced))
  }

  async stop(): Promise<void> {
    await Promise.all(this.#all().map((reflector) => reflector.stop()))
  }

  /** Milliseconds since the one that is furthest behind last heard from the server. */
  get ageMs(): number {
    return Math.max(...this.#all().map((reflector) => reflector.ageMs))
  }

  #all() {
    return [this.baseModels, this.models, this.trainingJobs, this.pods, this.deployments]
  }
}
