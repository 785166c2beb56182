import type { BaseModel, Model, TrainingJob } from '../crds/generated.ts'
import type { Pool } from '../db/pool.ts'
import type { FetchRoom } from '../artifacts/inputs/room.ts'
import type { ArtifactStore } from '../artifacts/store/store.ts'
import type { Logger } from '../lib/log.ts'
import type { DataSources } from '../lib/outbound/settings.ts'
import type { PodSettings } from './base-model/pods.ts'
import type { KubeClient } from '../lib/kube/client.ts'
import type { Deployment, Pod } from '../lib/kube/objects.ts'
import type { Reflector } from '../lib/kube/reflector.ts'

/** What every reconciler works with. */
export interface Context {
  client: KubeClient
  pool: Pool
  /** of traces, which may have a database of their own */
  tracing: Pool
  /** how long calls are kept where nothing was set for their project, in days; null: for good */
  traceDays: number | null
  log: Logger
  /** the one namespace whose resources we reconcile */
  namespace: string
  artifacts: ArtifactStore
  /** whom the operator may ask for training data */
  sources: DataSources
  /** what entities may still store of it */
  room: FetchRoom
  podSettings: PodSettings
  engineKey: string
  baseModels: Pick<Reflector<BaseModel>, 'get' | 'list'>
  models: Pick<Reflector<Model>, 'get' | 'list'>
  trainingJobs: Pick<Reflector<TrainingJob>, 'get' | 'list'>
  pods: Pick<Reflector<Pod>, 'get' | 'list'>
  deployments: Pick<Reflector<Deployment>, 'get' | 'list'>
}
