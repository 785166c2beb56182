import { findJobResource } from '../db/jobs/resources.ts'
import { findModelResource } from '../db/models/resources.ts'
import type { Pool } from '../db/pool.ts'
import { WorkQueue } from '../lib/kube/queue.ts'
import type { Logger } from '../lib/log.ts'
import type { ResourceIds } from './resource-ids.ts'
import { keyOfRow, type ResourceRow } from './resource-keys.ts'
import type { Tenants } from './tenants.ts'

export const modelsChannel = 'training_models'
export const jobsChannel = 'training_jobs'

interface Deps {
  pool: Pool
  log: Logger
  tenants: Tenants
  models: WorkQueue
  trainingJobs: WorkQueue
  modelIds: ResourceIds
  jobIds: ResourceIds
  /** Called with the key of a model that has changed. */
  onModel: (key: string) => void
  /** Called with the base model of a job that waits for a trainer. */
  onQueued: (baseModel: string) => void
}

// A job that runs, and its model with it, change several times in a short while. Each look reads all of them.
const lookMs = { job: 100, model: 500 }
const concurrency = 4

/** Decides which keys the notification of a changed row adds. */
export class ChangedRows {
  /** Keys are `channel/id` of a row whose resource is looked up. */
  readonly queue: WorkQueue
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
    const work = (key: string) => this.#lookUp(key)
    this.queue = new WorkQueue({ name: 'rows', concurrency, log: deps.log, work })
  }

  onJob(id: string): void {
    const { jobIds, trainingJobs } = this.#deps
    const known = jobIds.find(id)
    if (known === undefined) this.queue.add(`${jobsChannel}/${id}`)
    else trainingJobs.addAfter(known, lookMs.job)
  }

  onModel(id: string): void {
    const { modelIds, models, onModel } = this.#deps
    const known = modelIds.find(id)
    if (known === undefined) return this.queue.add(`${modelsChannel}/${id}`)
    models.addAfter(known, lookMs.model)
    onModel(known)
  }

  async #lookUp(row: string): Promise<void> {
    const { pool, models, trainingJobs, onModel, onQueued } = this.#deps
    const [channel, id = ''] = row.split('/')
    if (channel === modelsChannel) {
      const model = await findModelResource(pool, id)
      if (!model || !this.#isWatched(model)) return
      models.add(keyOfRow(model))
      return onModel(keyOfRow(model))
    }
    const job = await findJobResource(pool, id)
    if (!job || !this.#isWatched(job)) return
    if (job.state === 'Queued') onQueued(job.baseModel)
    trainingJobs.add(keyOfRow(job))
  }

  #isWatched({ namespace }: ResourceRow): boolean {
    return this.#deps.tenants.namespaces.includes(namespace)
  }
}
