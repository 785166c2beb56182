import { waitForLeases } from '../../db/changes.ts'
import { findUnloadableCheckpoint, recordLoadError } from '../../db/checkpoints/load-errors.ts'
import { finishJob } from '../../db/jobs/endings.ts'
import { findPublishingJob } from '../../db/jobs/resources.ts'
import type { ArtifactStore } from '../../artifacts/store/store.ts'
import { AdapterLoader, type LoaderDeps } from './adapter-loader.ts'
import { measureCheckpoint } from './measure.ts'
import type { Publication } from './status.ts'

// An engine's failure never fails a trained job. It delays the job's end by at most this time.
const publishMs = 30_000
const maxPublications = 1000

interface Deps extends LoaderDeps {
  artifacts: ArtifactStore
}

/**
 * Ends trained jobs: loads each new checkpoint on every Ready engine pod, then writes the job's end. It needs neither
 * kube-apiserver nor the job's resource.
 */
export class Publisher {
  readonly #deps: Deps
  readonly #loader: AdapterLoader
  readonly #stopping = new AbortController()
  /** The publications of the newest jobs, for their status. */
  readonly #publications = new Map<string, Publication>()

  constructor(deps: Deps) {
    this.#deps = deps
    this.#loader = new AdapterLoader(deps)
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

  /** Asks the engines again for a checkpoint that they could not load: their settings may have changed. */
  async loadAgain(checkpointId: string): Promise<void> {
    const { pool } = this.#deps
    const checkpoint = await findUnloadableCheckpoint(pool, checkpointId)
    if (!checkpoint) return
    // First, so that one that hangs an engine is not the first again.
    await recordLoadError(pool, checkpointId, checkpoint.error)
    await this.#load(checkpoint.baseModel, checkpointId)
  }

  #load(baseModel: string, checkpointId: string): Promise<Publication> {
    const deadline = AbortSignal.any([AbortSignal.timeout(publishMs), this.#stopping.signal])
    return this.#loader.load({ baseModel, checkpointId, deadline })
  }

  #record(jobId: string, publication: Publication): void {
    this.#publications.set(jobId, publication)
    const [oldest] = this.#publications.keys()
    if (this.#publications.size > maxPublications && oldest) this.#publications.delete(oldest)
  }
}
