import type { TrainingJob } from '../../crds/generated.ts'
import type { OperatorJob } from '../../db/jobs/resources.ts'
import { FairSemaphore } from '../../lib/fair-semaphore.ts'
import { ResourceIds } from '../resource-ids.ts'
import { modelKeyOf } from '../resource-keys.ts'
import { idsOf } from './find-job.ts'

/** What a reconciliation has found out about a job. */
interface TrackedJob {
  job?: OperatorJob | undefined
  /** Whether the job waits for something of its model. */
  isBlocked: boolean
}

/** What the operator remembers of jobs from one reconciliation to the next. All keys are those of resources. */
export class JobTracker {
  /** The resources of jobs, by the ids of the jobs. */
  readonly ids = new ResourceIds()
  readonly #blocked = new Map<string, Set<string>>()
  readonly #arrivals = new FairSemaphore({ permits: 1 })

  /** Runs `work`. Jobs without a row get their positions in the queue in the order of their arrival: one at a time. */
  inOrder<T>(resource: TrainingJob, work: () => Promise<T>): Promise<T> {
    return idsOf(resource).length > 0 ? work() : this.#arrivals.run({ key: '' }, work)
  }

  record(key: string, resource: TrainingJob, { job, isBlocked }: TrackedJob): void {
    if (job) this.ids.record(job.id, key)
    const modelKey = modelKeyOf(resource)
    const jobs = this.#blocked.get(modelKey) ?? new Set()
    if (isBlocked) jobs.add(key)
    else jobs.delete(key)
    if (jobs.size > 0) this.#blocked.set(modelKey, jobs)
    else this.#blocked.delete(modelKey)
  }

  /** The jobs that wait for a model, in the order in which they came. */
  listBlocked(modelKey: string): string[] {
    return [...(this.#blocked.get(modelKey) ?? [])]
  }
}
