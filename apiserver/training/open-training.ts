import type { DatabaseUrl } from '../../db/address.ts'
import { listEvents } from '../../db/jobs/events.ts'
import { listen } from '../../db/listen.ts'
import { numberedChannel } from '../../db/webhooks/read-outbox.ts'
import { openDataSources, openEndpoint, openWebhooks } from '../../lib/outbound/open.ts'
import { readLimit } from '../../lib/limit-setting.ts'
import { readSealingKeys } from '../../lib/sealing/settings.ts'
import type { Admission } from '../accounts/limits/admission.ts'
import type { RestApi } from '../accounts/rest-api.ts'
import type { Config } from '../config.ts'
import { routeAliases } from './aliases/routes.ts'
import { routeArtifacts } from './artifacts/routes.ts'
import type { ArtifactDeps } from './artifacts/store-files.ts'
import { routeDownloads } from './checkpoints/download-routes.ts'
import { readDefaults } from './base-models/defaults.ts'
import { ModelHub } from './base-models/hub.ts'
import { BaseModelCreator } from './base-models/base-model-creator.ts'
import { routeCheckpoints } from './checkpoints/routes.ts'
import type { CheckpointDeps } from './checkpoints/service.ts'
import { routeErasures } from './erasures/routes.ts'
import type { ErasureDeps } from './erasures/service.ts'
import { BodyChecker } from './ingest/body-checker.ts'
import type { ForkDeps } from './models/fork.ts'
import { routeModelMetrics } from './models/metrics/routes.ts'
import type { MetricsDeps } from './models/metrics/service.ts'
import { routeRetention } from './models/retention-routes.ts'
import { routeModels } from './models/routes.ts'
import type { ModelDeps } from './models/service.ts'
import { routeRowsTrainingJobs } from './rows-training-jobs/routes.ts'
import type { RowsJobDeps } from './rows-training-jobs/service.ts'
import { ChangeHub } from './stream/hub.ts'
import { routeStream, type ChangeStreamDeps } from './stream/routes.ts'
import { EventHub } from './training-jobs/events/hub.ts'
import { routeTrainingJobs, type TrainingJobDeps } from './training-jobs/routes.ts'
import { routeTrajectories } from './trajectories/routes.ts'
import { routeProjects } from './projects/routes.ts'
import type { CapturedDeps } from './trajectories/read-captured.ts'
import type { SearchDeps } from './trajectories/search/service.ts'
import { routeLogs } from './trajectory-logs/routes.ts'
import { routeWebhooks } from './webhooks/routes.ts'
import type { WebhookDeps } from './webhooks/service.ts'

interface TrainingDeps
  extends
    ArtifactDeps,
    CapturedDeps,
    ChangeStreamDeps,
    CheckpointDeps,
    ErasureDeps,
    ForkDeps,
    MetricsDeps,
    ModelDeps,
    SearchDeps,
    RowsJobDeps,
    TrainingJobDeps,
    WebhookDeps {}

/** Parts that only this group has. */
type OwnParts =
  | 'baseModelCreator'
  | 'bodies'
  | 'changeHub'
  | 'defaultGpuSeconds'
  | 'events'
  | 'sealingKeys'
  | 'sources'
  | 'webhooks'

/** Parts that it shares with other groups. */
interface SharedParts extends Omit<TrainingDeps, OwnParts> {
  admission: Admission
  /** For notifications. */
  databaseUrl: DatabaseUrl
}

/** The training group. */
export interface Training {
  route: (api: RestApi) => void
  /** Ends the streams of events: their clients reconnect to another process. */
  stopWaiting: () => void
  close: () => Promise<void>
}

/** Opens the training group: its own parts, and all its operations. @throws {ConfigError} */
export async function openTraining(config: Config, shared: SharedParts): Promise<Training> {
  const { databaseUrl, heavyThreads, log, pool } = shared
  const sources = await openDataSources(config)
  const events = new EventHub((jobId, page) => listEvents(pool, jobId, page))
  const changeHub = new ChangeHub(pool, log)
  const subscription = listen(
    databaseUrl,
    ['training_events', numberedChannel],
    {
      onNotify: (channel, jobId) => (channel === numberedChannel ? changeHub.wake() : events.notify(jobId)),
      onConnect: () => {
        events.onConnect()
        changeHub.wake()
      },
      onDisconnect: () => events.onDisconnect(),
    },
    log,
  )
  const hub = openHub(config)
  const own = {
    defaultGpuSeconds: readLimit(config.TRAINYARD_DEFAULT_GPU_SECONDS_PER_DAY),
    baseModelCreator: openBaseModelCreator(config, shared, hub),
    bodies: new BodyChecker(heavyThreads),
    changeHub,
    events,
    sources,
    webhooks: openWebhooks(config),
    sealingKeys: readSealingKeys(config),
  }
  return {
    route: (api) => routeTraining(api, { ...shared, ...own }),
    stopWaiting: () => {
      events.close()
      changeHub.close()
    },
    close: async () => {
      await subscription.close()
      await sources.outbound.close()
      await hub.close()
    },
  }
}

function openHub(config: Config): ModelHub {
  const endpoint = config.HF_ENDPOINT.replace(/\/+$/, '')
  return new ModelHub(openEndpoint(endpoint, config), endpoint)
}

function openBaseModelCreator(config: Config, shared: SharedParts, hub: ModelHub): BaseModelCreator | undefined {
  const defaults = readDefaults(config.TRAINYARD_BASE_MODEL_DEFAULTS)
  return defaults && new BaseModelCreator({ ...shared, hub, defaults })
}

function routeTraining(api: RestApi, deps: TrainingDeps): void {
  routeModels(api, deps)
  routeModelMetrics(api, deps)
  routeRetention(api, deps.pool)
  routeAliases(api, deps.pool)
  routeCheckpoints(api, deps)
  routeDownloads(api, deps)
  routeErasures(api, deps)
  routeProjects(api, deps)
  routeArtifacts(api, deps)
  routeTrainingJobs(api, deps)
  routeStream(api, deps)
  routeRowsTrainingJobs(api, deps)
  routeWebhooks(api, deps)
  routeLogs(api, deps)
  routeTrajectories(api, deps)
}
