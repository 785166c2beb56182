import { isDeepStrictEqual } from 'node:util'
import type { Model, TrainingJob } from '../crds/generated.ts'
import { annotations, labels } from '../crds/names.ts'
import { engineDemandChannel } from '../db/demand/engine-demand.ts'
import { reconcileBaseModel, type BaseModelDeps } from './base-model/reconcile.ts'
import { listBaseModelsNamed } from './component-pods.ts'
import type { KubeObject } from '../lib/kube/apply.ts'
import { WorkQueue } from '../lib/kube/queue.ts'
import { StatusWriter } from '../lib/kube/status-writer.ts'
import { keyOf, type Pod } from '../lib/kube/objects.ts'
import { ChangedRows, jobsChannel, modelsChannel } from './changed-rows.ts'
import { isEngine, isStatusChange, pickServed, pickServing, sortByAge } from './changed-objects.ts'
import type { PodAdapters } from './adapters/pod-adapters.ts'
import { ResourceIds } from './resource-ids.ts'
import { reconcileModel, type ModelDeps } from './model/reconcile.ts'
import { reconcileValues, type ValuesDeps } from './base-model-values/reconcile.ts'
import { isTerminal } from '../crds/job-states.ts'
import { StatusThrottle } from './status-throttle.ts'
import type { InputFetcher } from './training-job/input-fetcher.ts'
import { JobTracker } from './training-job/job-tracker.ts'
import type { Publisher } from './training-job/publish.ts'
import { QueuePositions } from './training-job/queue-positions.ts'
import type { JobWorkers, TrainingJobDeps } from './training-job/deps.ts'
import { reconcileTrainingJob } from './training-job/reconcile.ts'
import type { WatchedChange } from './watches.ts'

/** What the reconciliations and their workers need. */
export type ControllerDeps = BaseModelDeps &
  ModelDeps &
  TrainingJobDeps &
  ValuesDeps & { publisher: Publisher; inputFetcher: InputFetcher; podAdapters: PodAdapters }

const publishingChannel = 'training_publishing'
/** The channels of Postgres whose notifications concern the controllers. */
export const channels = [modelsChannel, jobsChannel, publishingChannel, engineDemandChannel]

// A publication waits 0.3 seconds until no gateway caches an older step: eight at a time would be 26 jobs a second.
const publishConcurrency = 64
const defaultConcurrency = 4
// They wait for kube-apiserver and for Postgres most of the time.
const jobConcurrency = 8
// Usually it is claimed by then, and needs no look.
const nextJobMs = 2_500
// An engine that does not answer takes five seconds.
const engineQueue = { name: 'engines', concurrency: 32, backoff: { baseMs: 1_000, maxMs: 60_000 } }
// An engine that loads adapters does not delay other engines.
const adapterQueue = { name: 'adapters', concurrency: 32, backoff: { baseMs: 1_000, maxMs: 60_000 } }
// A foreign server may be slow or down for a while. Twelve tries take about seven minutes. Each job waits for its entity's turn.
const inputQueue = { name: 'inputs', concurrency: Infinity, backoff: { baseMs: 1_000, maxMs: 60_000 } }

/**
 * The work queues of the controllers. Decides which change adds which key. Keys are names of resources, with the namespace
 * for Models and TrainingJobs, unless noted otherwise.
 */
export class Controllers {
  readonly baseModels: WorkQueue
  /** Keys are names of the ConfigMap with the base models of the chart's values. */
  readonly #baseModelValues: WorkQueue
  readonly models: WorkQueue
  readonly trainingJobs: WorkQueue
  /** Keys are job ids. */
  readonly publishing: WorkQueue
  /** Keys are names of engine pods, whose adapters are listed. */
  readonly engines: WorkQueue
  /** Keys are names of engine pods, whose adapters are loaded and unloaded. */
  readonly #adapters: WorkQueue
  /** Keys are job ids. */
  readonly #inputs: WorkQueue
  readonly #changedRows: ChangedRows
  readonly #modelIds = new ResourceIds()
  readonly #jobs = new JobTracker()
  readonly #modelStatuses: StatusWriter<Model>
  readonly #jobStatuses: StatusWriter<TrainingJob>
  readonly #deps: ControllerDeps

  constructor(deps: ControllerDeps) {
    const { log, publisher, inputFetcher, podAdapters } = deps
    const queue = (name: string, concurrency: number, work: ConstructorParameters<typeof WorkQueue>[0]['work']) =>
      new WorkQueue({ name, concurrency, log, work })
    this.#deps = deps
    this.baseModels = queue('base-models', defaultConcurrency, (name) => reconcileBaseModel(deps, name))
    this.#baseModelValues = queue('base-model-values', 1, (name) => reconcileValues(deps, name))
    this.#modelStatuses = new StatusWriter(deps.client)
    this.#jobStatuses = new StatusWriter(deps.client)
    const modelDeps = { ...deps, statuses: this.#modelStatuses, throttle: new StatusThrottle(), ids: this.#modelIds }
    this.models = queue('models', defaultConcurrency, (key) => reconcileModel(modelDeps, key))
    const workers: JobWorkers = {
      fetchInput: (id) => this.#inputs.addRoutinely(id),
      findPublication: (id) => publisher.findPublication(id),
      onWork: ({ id, state, baseModel }) => {
        if (state === 'Publishing') this.publishing.addRoutinely(id)
        if (state === 'Queued') this.#addTrainersOf(baseModel)
      },
      onNext: (next) => this.trainingJobs.addAfter(next, nextJobMs),
      tracker: this.#jobs,
      statuses: this.#jobStatuses,
      throttle: new StatusThrottle(),
      queuePositions: new QueuePositions(deps),
    }
    const jobDeps = { ...deps, ...workers }
    this.trainingJobs = queue('training-jobs', jobConcurrency, (key) => reconcileTrainingJob(jobDeps, key))
    const keep = (podName: string) => this.#adapters.add(podName)
    this.publishing = queue('publishing', publishConcurrency, (id) => publisher.publish(id, keep))
    this.#adapters = new WorkQueue({ ...adapterQueue, log, work: (name) => podAdapters.adjust(name) })
    const adjust = (name: string) => this.#adapters.addRoutinely(name)
    const observe = (name: string) => podAdapters.observe(name, () => adjust(name))
    this.engines = new WorkQueue({ ...engineQueue, log, work: observe })
    this.#inputs = new WorkQueue({ ...inputQueue, log, work: (id) => inputFetcher.fetch(id) })
    this.#changedRows = new ChangedRows({
      ...deps,
      models: this.models,
      trainingJobs: this.trainingJobs,
      modelIds: this.#modelIds,
      jobIds: this.#jobs.ids,
      onModel: (key) => this.#addJobsOf(key),
      onQueued: (baseModel) => this.#addTrainersOf(baseModel),
    })
  }

  /** All queues, in the order in which they are closed. */
  get queues(): readonly WorkQueue[] {
    return [
      this.#changedRows.queue,
      this.#inputs,
      this.#adapters,
      this.engines,
      this.publishing,
      this.trainingJobs,
      this.models,
      this.baseModels,
      this.#baseModelValues,
    ]
  }

  /** Handles a change that a watch has seen. */
  onChange({ kind, object, before }: WatchedChange): void {
    const name = object.metadata.name ?? ''
    if (kind === 'Model' && this.#modelStatuses.recognize(object)) return this.#addJobsOf(keyOf(object))
    if (kind === 'TrainingJob' && this.#jobStatuses.recognize(object)) return
    // Work that fails writes its reason into the status. That must not be a reason to try again.
    const add = (queue: WorkQueue, key: string) =>
      isStatusChange(object, before) ? queue.addRoutinely(key) : queue.add(key)
    if (kind === 'BaseModel') {
      add(this.baseModels, name)
      if (!isStatusChange(object, before)) {
        this.#addValues()
        // It may allow now what its jobs ask for.
        for (const model of this.#listModelsOf(name)) this.#addJobsOf(keyOf(model))
      }
      if (!isDeepStrictEqual(pickServed(object), before && pickServed(before))) this.#addModelsOf(name)
    } else if (kind === 'Model') {
      add(this.models, keyOf(object))
      this.#addJobsOf(keyOf(object))
    } else if (kind === 'TrainingJob') add(this.trainingJobs, keyOf(object))
    else if (kind === 'ConfigMap') this.#baseModelValues.add(name)
    else this.#addOwner(object)
    if (kind === 'Pod' && isEngine(object)) this.#onEngineChange(object, before)
  }

  /** Handles a notification of Postgres: a row has changed, or a base model needs an engine. */
  onNotify(channel: string, id: string): void {
    if (channel === jobsChannel) this.#changedRows.onJob(id)
    else if (channel === modelsChannel) this.#changedRows.onModel(id)
    else if (channel === publishingChannel) this.publishing.add(id)
    else if (this.#deps.baseModels.get(id)?.spec.engine?.autoscaling) this.baseModels.addRoutinely(id)
  }

  /** Adds all resources, oldest first: jobs without a position get one in this order. */
  addAll(): void {
    const { baseModels, models, trainingJobs, pods } = this.#deps
    this.#addValues()
    for (const { metadata } of pods.list().filter(isEngine)) this.engines.add(metadata.name ?? '')
    for (const { metadata } of sortByAge(baseModels.list())) this.baseModels.add(metadata.name ?? '')
    for (const model of sortByAge(models.list())) this.models.add(keyOf(model))
    for (const job of sortByAge(trainingJobs.list())) {
      if (isTerminal(job.status?.phase ?? 'Pending')) this.trainingJobs.addRoutinely(keyOf(job))
      else this.trainingJobs.add(keyOf(job))
    }
  }

  #addValues(): void {
    for (const { metadata } of this.#deps.baseModelValues.list())
      this.#baseModelValues.addRoutinely(metadata.name ?? '')
  }

  async close(): Promise<void> {
    this.#deps.inputFetcher.stop()
    this.#deps.publisher.stop()
    this.#deps.podAdapters.stop()
    await Promise.all(this.queues.map((queue) => queue.close()))
  }

  /** The job may need a trainer that is not there. */
  #addTrainersOf(baseModel: string): void {
    for (const { metadata, spec } of listBaseModelsNamed(this.#deps.baseModels, baseModel)) {
      if (spec.trainer?.warm?.max !== undefined) this.baseModels.addRoutinely(metadata.name ?? '')
    }
  }

  #onEngineChange(pod: Pod, before: Pod | undefined): void {
    this.engines.add(pod.metadata.name ?? '')
    const owner = pod.metadata.labels?.[labels.baseModel]
    if (owner !== undefined && !isDeepStrictEqual(pickServing(pod), before && pickServing(before))) {
      this.#addModelsOf(owner)
    }
  }

  #addModelsOf(baseModel: string): void {
    for (const model of this.#listModelsOf(baseModel)) this.models.add(keyOf(model))
  }

  #listModelsOf(baseModel: string): Model[] {
    return sortByAge(this.#deps.models.list().filter(({ spec }) => spec.baseModelRef.name === baseModel))
  }

  /** Adds only the jobs that wait for the model. Later changes of a job come from its row. */
  #addJobsOf(modelKey: string): void {
    for (const key of this.#jobs.listBlocked(modelKey)) this.trainingJobs.add(key)
  }

  #addOwner(child: KubeObject & { metadata: Pod['metadata'] }): void {
    const job = child.metadata.annotations?.[annotations.trainingJob]
    if (job !== undefined) return this.trainingJobs.add(job)
    const owner = child.metadata.labels?.[labels.baseModel]
    if (owner !== undefined) this.baseModels.add(owner)
  }
}
