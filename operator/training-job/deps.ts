import type { BaseModel, Model, TrainingJob } from '../../crds/generated.ts'
import type { QueueDeps } from '../../db/jobs/queue-blocks.ts'
import type { OperatorJob } from '../../db/jobs/resources.ts'
import type { KubeClient } from '../../lib/kube/client.ts'
import type { Job, Pod } from '../../lib/kube/objects.ts'
import type { ObjectCache } from '../../lib/kube/reflector.ts'
import type { StatusWriter } from '../../lib/kube/status-writer.ts'
import type { Logger } from '../../lib/log.ts'
import type { PodSettings } from '../base-model/pod/common.ts'
import type { OperatorEvents } from '../metrics/events.ts'
import type { StatusThrottle } from '../status-throttle.ts'
import type { Tenants } from '../tenants.ts'
import type { JobTracker } from './job-tracker.ts'
import type { QueuePositions } from './queue-positions.ts'
import type { Publication } from './status.ts'

/** What the reconciliation of training jobs needs. */
export interface TrainingJobDeps extends QueueDeps {
  client: KubeClient
  log: Logger
  namespace: string
  tenants: Tenants
  baseModels: ObjectCache<BaseModel>
  models: ObjectCache<Model>
  trainingJobs: ObjectCache<TrainingJob>
  jobs: ObjectCache<Job>
  pods: ObjectCache<Pod>
  podSettings: PodSettings
  events: OperatorEvents
}

/** Slow work that runs concurrently with the reconciliation. */
export interface JobWorkers {
  /** Queues the fetch of a job's input. Queueing it twice changes nothing. */
  fetchInput: (jobId: string) => void
  /** How many engines loaded the checkpoint of a job, if this process published it. */
  findPublication: (jobId: string) => Publication | undefined
  /** Called with a job that waits for a trainer, or whose checkpoint is to be published. */
  onWork: (job: Pick<OperatorJob, 'id' | 'state' | 'baseModel'>) => void
  /** Called with the key of the next job of a model when one has ended. */
  onNext: (key: string) => void
  tracker: JobTracker
  statuses: StatusWriter<TrainingJob>
  throttle: StatusThrottle
  queuePositions: QueuePositions
}
