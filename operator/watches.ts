import type { BaseModel, Model, TrainingJob } from '../crds/generated.ts'
import { apiVersion, labels, plurals, type Kind } from '../crds/names.ts'
import { customPath } from '../crds/paths.ts'
import type { KubeObject } from '../lib/kube/apply.ts'
import type { KubeClient } from '../lib/kube/client.ts'
import { compactJob } from './training-job/compact.ts'
import type { ConfigMap, Deployment, Pod } from '../lib/kube/objects.ts'
import { configMapPath, deploymentPath, disruptionBudgetPath, podPath, servicePath } from '../lib/kube/paths.ts'
import { Reflector } from '../lib/kube/reflector.ts'
import type { Logger } from '../lib/log.ts'

interface Deps {
  client: KubeClient
  namespace: string
  log: Logger
}

/** The chart creates it. */
const baseModelValuesName = 'trainyard-base-models'

// A job may have 20,000 learning rates, and be applied with as many in an annotation: half a megabyte.
const jobsPerPage = 50

type WatchedKind = Kind | 'ConfigMap' | 'Pod' | 'Deployment' | 'Service' | 'PodDisruptionBudget'

/** An object that was added, changed or deleted, and what it was before it was changed. */
export interface WatchedChange {
  kind: WatchedKind
  object: KubeObject
  before: KubeObject | undefined
}

interface Given<T> {
  apiVersion: string
  path: string
  compact?: (object: T) => T
  pageSize?: number
}

type ChangeHandler = (change: WatchedChange) => void

/** Cached copies of the operator's objects in its namespace. */
export class Watches {
  readonly baseModels: Reflector<BaseModel>
  readonly models: Reflector<Model>
  readonly trainingJobs: Reflector<TrainingJob>
  readonly pods: Reflector<Pod>
  readonly deployments: Reflector<Deployment>
  readonly services: Reflector<KubeObject>
  readonly disruptionBudgets: Reflector<KubeObject>
  /** The ConfigMap with the base models of the chart's values. */
  readonly baseModelValues: Reflector<ConfigMap>
  #onChange: ChangeHandler = () => {}

  constructor({ client, namespace, log }: Deps) {
    const watch = <T extends KubeObject>(kind: WatchedKind, given: Given<T>) =>
      new Reflector<T>({
        client,
        kind,
        ...given,
        ...selectorOf(kind),
        log,
        onChange: (object, before) => this.#onChange({ kind, object, before }),
      })
    const watchCustom = <T extends KubeObject>(kind: Kind, more: Partial<Given<T>> = {}) =>
      watch<T>(kind, { apiVersion, path: customPath(kind, namespace), ...more })
    this.baseModels = watchCustom<BaseModel>('BaseModel')
    this.models = watchCustom<Model>('Model')
    this.trainingJobs = watchCustom<TrainingJob>('TrainingJob', { compact: compactJob, pageSize: jobsPerPage })
    this.pods = watch<Pod>('Pod', { apiVersion: 'v1', path: podPath(namespace) })
    this.deployments = watch<Deployment>('Deployment', { apiVersion: 'apps/v1', path: deploymentPath(namespace) })
    this.services = watch('Service', { apiVersion: 'v1', path: servicePath(namespace) })
    const budgets = { apiVersion: 'policy/v1', path: disruptionBudgetPath(namespace) }
    this.disruptionBudgets = watch('PodDisruptionBudget', budgets)
    this.baseModelValues = watch('ConfigMap', { apiVersion: 'v1', path: configMapPath(namespace) })
  }

  /**
   * Starts all watches and waits for their first lists. From then on, `onChange` is called with each changed object.
   */
  async start(onChange: ChangeHandler): Promise<void> {
    for (const reflector of this.all) reflector.start()
    await Promise.all(this.all.map((reflector) => reflector.synced))
    this.#onChange = onChange
  }

  async stop(): Promise<void> {
    await Promise.all(this.all.map((reflector) => reflector.stop()))
  }

  /** The age in milliseconds of the last message from the server, for the watch that is furthest behind. */
  get ageMs(): number {
    return Math.max(...this.all.map((reflector) => reflector.ageMs))
  }

  /** Why a kind has no list, or no newer one; undefined if all kinds are listed. */
  get trouble(): string | undefined {
    const troubles = this.all.flatMap(({ kind, trouble }) => (trouble ? `cannot list ${kind}: ${trouble}` : []))
    return troubles.length === 0 ? undefined : troubles.join('; ')
  }

  /** The watch of each kind. */
  get all() {
    const children = [this.pods, this.deployments, this.services, this.disruptionBudgets]
    return [this.baseModels, this.models, this.trainingJobs, this.baseModelValues, ...children]
  }
}

/** Of Kubernetes' own kinds, only the children of BaseModels and one ConfigMap are watched. */
function selectorOf(kind: WatchedKind): { selector?: Record<string, string> } {
  if (kind === 'ConfigMap') return { selector: { fieldSelector: `metadata.name=${baseModelValuesName}` } }
  return kind in plurals ? {} : { selector: { labelSelector: labels.baseModel } }
}
