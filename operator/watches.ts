import type { BaseModel, Model, TrainingJob } from '../crds/generated.ts'
import { apiVersion, labels, plurals, type Kind } from '../crds/names.ts'
import { customPath } from '../crds/paths.ts'
import type { KubeObject } from '../lib/kube/apply.ts'
import type { KubeClient } from '../lib/kube/client.ts'
import { jobListing } from './training-job/compact.ts'
import { keyOf, type ConfigMap, type Deployment, type Job, type Pod } from '../lib/kube/objects.ts'
import {
  configMapPath,
  deploymentPath,
  disruptionBudgetPath,
  jobPath,
  podPath,
  servicePath,
} from '../lib/kube/paths.ts'
import { Reflector, type ObjectCache } from '../lib/kube/reflector.ts'
import type { Logger } from '../lib/log.ts'

interface Deps {
  client: KubeClient
  namespace: string
  /** All namespaces with Models and TrainingJobs, the own one too. */
  namespaces: readonly string[]
  log: Logger
}

/** The chart creates it. */
const baseModelValuesName = 'trainyard-base-models'

type WatchedKind = Kind | 'ConfigMap' | 'Pod' | 'Job' | 'Deployment' | 'Service' | 'PodDisruptionBudget'

/** An object that was added, changed or deleted, and what it was before it was changed. */
export interface WatchedChange {
  kind: WatchedKind
  object: KubeObject
  before: KubeObject | undefined
}

type Watch = Pick<Reflector<KubeObject>, 'kind' | 'start' | 'stop' | 'synced' | 'ageMs' | 'restarts' | 'trouble'>

interface Given<T> {
  apiVersion: string
  path: string
  keyOf?: (object: T) => string
  compact?: (object: T) => T
  pageSize?: number
}

type ChangeHandler = (change: WatchedChange) => void

/** Cached copies of the operator's objects in its namespace, and of the resources of tenants in theirs. */
export class Watches {
  readonly baseModels: Reflector<BaseModel>
  /** The keys have namespaces. */
  readonly models: ObjectCache<Model>
  /** The keys have namespaces. */
  readonly trainingJobs: ObjectCache<TrainingJob>
  /** The watches of the own namespace. */
  readonly own: readonly Watch[]
  /** The watches of other namespaces. If one fails, because its namespace or its Role is missing, the others go on. */
  readonly #foreign: readonly Watch[]
  readonly pods: Reflector<Pod>
  readonly jobs: Reflector<Job>
  readonly deployments: Reflector<Deployment>
  readonly services: Reflector<KubeObject>
  readonly disruptionBudgets: Reflector<KubeObject>
  /** The ConfigMap with the base models of the chart's values. */
  readonly baseModelValues: Reflector<ConfigMap>
  #onChange: ChangeHandler = () => {}

  constructor({ client, namespace, namespaces, log }: Deps) {
    const watch = <T extends KubeObject>(kind: WatchedKind, given: Given<T>) =>
      new Reflector<T>({
        client,
        kind,
        ...given,
        ...selectorOf(kind),
        log,
        onChange: (object, before) => this.#onChange({ kind, object, before }),
      })
    const watchCustom = <T extends KubeObject>(kind: Kind, within: string, more: Partial<Given<T>> = {}) =>
      watch<T>(kind, { apiVersion, path: customPath(kind, within), ...more })
    this.baseModels = watchCustom<BaseModel>('BaseModel', namespace)
    const models = namespaces.map((within) => watchCustom<Model>('Model', within, { keyOf }))
    const trainingJobs = namespaces.map((within) => watchCustom<TrainingJob>('TrainingJob', within, jobListing))
    this.models = merge(models)
    this.trainingJobs = merge(trainingJobs)
    this.pods = watch<Pod>('Pod', { apiVersion: 'v1', path: podPath(namespace) })
    this.jobs = watch<Job>('Job', { apiVersion: 'batch/v1', path: jobPath(namespace) })
    this.deployments = watch<Deployment>('Deployment', { apiVersion: 'apps/v1', path: deploymentPath(namespace) })
    this.services = watch('Service', { apiVersion: 'v1', path: servicePath(namespace) })
    const budgets = { apiVersion: 'policy/v1', path: disruptionBudgetPath(namespace) }
    this.disruptionBudgets = watch('PodDisruptionBudget', budgets)
    this.baseModelValues = watch('ConfigMap', { apiVersion: 'v1', path: configMapPath(namespace) })
    const isOwn = (_: unknown, index: number) => namespaces[index] === namespace
    const resources = [this.baseModels, ...models.filter(isOwn), ...trainingJobs.filter(isOwn), this.baseModelValues]
    this.own = [...resources, this.pods, this.jobs, this.deployments, this.services, this.disruptionBudgets]
    const isForeign = (_: unknown, index: number) => !isOwn(_, index)
    this.#foreign = [...models.filter(isForeign), ...trainingJobs.filter(isForeign)]
  }

  /**
   * Starts all watches and waits for the first lists of the own namespace. From then on, `onChange` is called with each
   * changed object.
   */
  async start(onChange: ChangeHandler): Promise<void> {
    for (const reflector of [...this.own, ...this.#foreign]) reflector.start()
    await Promise.all(this.own.map((reflector) => reflector.synced))
    this.#onChange = onChange
  }

  async stop(): Promise<void> {
    await Promise.all([...this.own, ...this.#foreign].map((reflector) => reflector.stop()))
  }

  /** The age in milliseconds of the last message from the server, for the own watch that is furthest behind. */
  get ageMs(): number {
    return Math.max(...this.own.map((reflector) => reflector.ageMs))
  }

  /** Why a kind of the own namespace has no list, or no newer one; undefined if all kinds are listed. */
  get trouble(): string | undefined {
    const troubles = this.own.flatMap(({ kind, trouble }) => (trouble ? `cannot list ${kind}: ${trouble}` : []))
    return troubles.length === 0 ? undefined : troubles.join('; ')
  }
}

function merge<T extends KubeObject>(reflectors: readonly Reflector<T>[]): ObjectCache<T> {
  return {
    get: (key) => reflectors.map((reflector) => reflector.get(key)).find((object) => object !== undefined),
    list: () => reflectors.flatMap((reflector) => reflector.list()),
  }
}

/** Of Kubernetes' own kinds, only the children of BaseModels and one ConfigMap are watched. */
function selectorOf(kind: WatchedKind): { selector?: Record<string, string> } {
  if (kind === 'ConfigMap') return { selector: { fieldSelector: `metadata.name=${baseModelValuesName}` } }
  return kind in plurals ? {} : { selector: { labelSelector: labels.baseModel } }
}
