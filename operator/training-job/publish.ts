import { setTimeout as delay } from 'node:timers/promises'
import { waitForLeases } from '../../db/changes.ts'
import { isCheckpointThere } from '../../db/deletion/checkpoints.ts'
import { finishJob } from '../../db/jobs/endings.ts'
import { findPublishingJob } from '../../db/jobs/resources.ts'
import type { ArtifactStore } from '../../artifacts/store/store.ts'
import type { BaseModel } from '../../crds/generated.ts'
import type { Pool } from '../../db/pool.ts'
import type { Logger } from '../../lib/log.ts'
import type { ObjectCache } from '../../lib/kube/reflector.ts'
import { listBaseModelsNamed, listReadyEngines } from '../component-pods.ts'
import { readEngineError, requestEngine, type Engine } from '../engine-client.ts'
import type { Pod } from '../../lib/kube/objects.ts'
import { measureCheckpoint } from './measure.ts'
import type { Publication } from './status.ts'

// An engine's failure never fails a trained job. It delays the job's end by at most this time.
const publishMs = 30_000
const retryMs = 500
const maxPublications = 1000

interface Deps {
  pool: Pool
  log: Logger
  artifacts: ArtifactStore
  /** The key that engines require. */
  engineKey: string
  baseModels: ObjectCache<BaseModel>
  pods: ObjectCache<Pod>
}

interface Load {
  baseModel: string
  checkpointId: string
  deadline: AbortSignal
}

/**
 * Ends trained jobs: loads each new checkpoint on every Ready engine pod, then writes the job's end. It needs neither
 * kube-apiserver nor the job's resource.
 */
export class Publisher {
  readonly #deps: Deps
  readonly #stopping = new AbortController()
  /** The publications of the newest jobs, for their status. */
  readonly #publications = new Map<string, Publication>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Aborts running publications, whose jobs stay Publishing. The next operator repeats them. */
  stop(): void {
    this.#stopping.abort()
  }

  /** How many engines loaded the checkpoint of a job, if this process published it. */
  findPublication(jobId: string): Publication | undefined {
    return this.#publications.get(jobId)
  }

  /** Publishes the checkpoint of one job and ends the job. Does nothing for a job that is not Publishing. */
  async publish(jobId: string): Promise<void> {
    const { pool, log } = this.#deps
    const job = await findPublishingJob(pool, jobId)
    if (!job?.checkpoint) return
    const startedAt = performance.now()
    const [publication] = await Promise.all([
      this.#load(job.baseModel, job.checkpoint.id),
      measureCheckpoint(this.#deps, job.checkpoint.id),
      // After `training_ended`, every gateway must serve the new step as the newest.
      waitForLeases(pool),
    ])
    if (publication.loaded < publication.asked) this.#stopping.signal.throwIfAborted()
    this.#record(jobId, publication)
    await finishJob(pool, jobId)
    const tookMs = Math.round(performance.now() - startedAt)
    log.info({ job: jobId, checkpoint: job.checkpoint.id, ...publication, tookMs }, 'checkpoint published')
  }

  async #load(baseModel: string, checkpointId: string): Promise<Publication> {
    const pods = this.#listEngines(baseModel)
    const deadline = AbortSignal.any([AbortSignal.timeout(publishMs), this.#stopping.signal])
    const results = await Promise.all(pods.map((pod) => this.#loadOn(pod, { baseModel, checkpointId, deadline })))
    return { asked: pods.length, loaded: results.filter(Boolean).length }
  }

  /** Tries until the pod has the checkpoint, is no longer Ready, the time is over, or the checkpoint was deleted. */
  async #loadOn(pod: Pod, { baseModel, checkpointId, deadline }: Load): Promise<boolean> {
    const isStillReady = () => this.#listEngines(baseModel).some(({ metadata }) => metadata.uid === pod.metadata.uid)
    while (!deadline.aborted && isStillReady() && (await isCheckpointThere(this.#deps.pool, checkpointId))) {
      try {
        await loadAdapter({ pod, key: this.#deps.engineKey }, checkpointId, deadline)
        return true
      } catch (error) {
        const fields = { pod: pod.metadata.name, checkpoint: checkpointId, error }
        this.#deps.log.warn(fields, 'an engine did not load a checkpoint')
      }
      await delay(retryMs, undefined, { signal: deadline }).catch(() => {})
    }
    return false
  }

  #listEngines(baseModel: string): Pod[] {
    const { baseModels, pods } = this.#deps
    return listBaseModelsNamed(baseModels, baseModel).flatMap(({ metadata }) =>
      listReadyEngines(pods, metadata.name ?? ''),
    )
  }

  #record(jobId: string, publication: Publication): void {
    this.#publications.set(jobId, publication)
    const [oldest] = this.#publications.keys()
    if (this.#publications.size > maxPublications && oldest) this.#publications.delete(oldest)
  }
}

/** Makes the engine load the adapter, with a completion of one token. */
async function loadAdapter(engine: Engine, checkpointId: string, signal: AbortSignal): Promise<void> {
  const body = { model: checkpointId, prompt: 'a', max_tokens: 1 }
  const response = await requestEngine(engine, '/v1/completions', { body, signal })
  if (!response.ok) throw await readEngineError(response)
  await response.text()
}
