import { waitForLeases } from '../../db/changes.ts'
import { readCheckpointAge } from '../../db/checkpoints/age.ts'
import { finishJob } from '../../db/jobs/endings.ts'
import { findPublishingJob } from '../../db/jobs/resources.ts'
import { listWantedAdapters } from '../../db/engines/wanted-adapters.ts'
import type { ArtifactStore } from '../../artifacts/store/store.ts'
import type { Pod } from '../../lib/kube/objects.ts'
import { AdapterLoader, type LoaderDeps } from '../adapters/adapter-loader.ts'
import { maxAdaptersOf } from '../adapters/pod-adapters.ts'
import { findResourceName, listBaseModelsNamed } from '../component-pods.ts'
import { measureCheckpoint } from './measure-checkpoint.ts'
import type { Publication } from './status.ts'

// An engine's failure never fails a trained job. It delays the job's end by at most this time.
const publishMs = 30_000
const maxPublications = 1000

interface Deps extends LoaderDeps {
  artifacts: ArtifactStore
}

/** Which engines get a new checkpoint. */
interface Asked {
  ready: Pod[]
  asked: Pod[]
  /** Whether they keep it, because its model has spec.keepLoaded. */
  isKept: boolean
}

/**
 * Ends trained jobs: loads each new checkpoint of a model in use on every Ready engine pod, and of another model on one
 * of them, which finds an adapter that cannot be loaded. Then writes the job's end. It needs neither kube-apiserver nor
 * the job's resource.
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

  /**
   * Publishes the checkpoint of one job and ends the job. Does nothing for a job that is not Publishing.
   *
   * @param onKept is called with each pod that has to keep the checkpoint from now on
   */
  async publish(jobId: string, onKept: (podName: string) => void): Promise<void> {
    const { pool, log } = this.#deps
    const job = await findPublishingJob(pool, jobId)
    if (!job?.checkpoint) return
    const startedAt = performance.now()
    const [publication, leases] = await Promise.all([
      this.#loadFirst(job.baseModel, job.checkpoint.id, onKept),
      // After `training_ended`, every gateway must serve the new step as the newest.
      waitForLeases(pool),
      measureCheckpoint(this.#deps, job.checkpoint.id),
    ])
    if (publication.loaded < publication.asked) this.#stopping.signal.throwIfAborted()
    this.#record(jobId, publication)
    await finishJob(pool, jobId, leases)
    const tookMs = Math.round(performance.now() - startedAt)
    log.info({ job: jobId, checkpoint: job.checkpoint.id, ...publication, tookMs }, 'checkpoint published')
  }

  /** A model in use, because it is kept loaded or was asked lately, gets its checkpoint on every engine. */
  async #chooseEngines(baseModel: string, checkpointId: string): Promise<Asked> {
    const { pool, baseModels } = this.#deps
    const ready = this.#loader.listEngines(baseModel)
    const [resource] = listBaseModelsNamed(baseModels, baseModel)
    const maxAdapters = resource ? maxAdaptersOf(resource.spec) : 0
    const { kept, inUse } = await listWantedAdapters(pool, baseModel, maxAdapters)
    const isKept = kept.includes(checkpointId)
    return { ready, asked: isKept || inUse.includes(checkpointId) ? ready : pickOne(ready, checkpointId), isKept }
  }

  /** Loads a new checkpoint, and measures how long it was not served. */
  async #loadFirst(baseModel: string, checkpointId: string, onKept: (podName: string) => void): Promise<Publication> {
    const { pool, baseModels, events } = this.#deps
    const { ready, asked, isKept } = await this.#chooseEngines(baseModel, checkpointId)
    const deadline = AbortSignal.any([AbortSignal.timeout(publishMs), this.#stopping.signal])
    const loaded = await this.#loader.loadOnAll(asked, { checkpointId, deadline })
    if (isKept) for (const { metadata } of asked) onKept(metadata.name ?? '')
    const isServed = loaded > 0 && loaded === asked.length
    const ageSeconds = isServed ? await readCheckpointAge(pool, checkpointId) : undefined
    if (ageSeconds !== undefined) events.recordPublished(findResourceName(baseModels, baseModel), ageSeconds)
    return { ready: ready.length, asked: asked.length, loaded }
  }

  #record(jobId: string, publication: Publication): void {
    this.#publications.set(jobId, publication)
    const [oldest] = this.#publications.keys()
    if (this.#publications.size > maxPublications && oldest) this.#publications.delete(oldest)
  }
}

/** Different checkpoints go to different pods. */
function pickOne(pods: Pod[], checkpointId: string): Pod[] {
  const first = Number.parseInt(checkpointId.slice(0, 8), 16) % pods.length
  return pods.slice(first, first + 1)
}
