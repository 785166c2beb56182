import type { ChangeFeed } from '../../db/changes.ts'
import type { Pool } from '../../db/pool.ts'
import type { RestApi } from '../accounts/rest-api.ts'
import type { Config } from '../config.ts'
import type { Kube } from '../kube.ts'
import { DemandReporter } from './engines/demand-reporter.ts'
import { DeletedBaseModels } from './engines/deleted-base-models.ts'
import { EngineClient } from './engines/engine-client.ts'
import { EnginePods } from './engines/engine-pods.ts'
import { EngineRouter } from './engines/engine-router.ts'
import type { GatewayDeps } from './gateway.ts'
import { LoadedAdapters } from './engines/loaded-adapters.ts'
import { ModelUses } from './models/model-uses.ts'
import { ModelResolver } from './models/model-resolver.ts'
import { routeResponses } from './responses/routes.ts'
import { routeGateway } from './routes.ts'

/** Parts that it shares with other groups. */
interface SharedParts extends Omit<GatewayDeps, 'engines' | 'models' | 'modelUses'> {
  /** The keys that engines may ask for, the current one first. */
  engineKeys: readonly string[]
  changes: ChangeFeed
  kube: Kube
  pool: Pool
}

/** The inference group. */
export interface Inference {
  /** The parts that other groups need for chats. */
  deps: GatewayDeps
  route: (api: RestApi) => void
  /** The load of each base model, for metrics. */
  listLoads: () => ReturnType<EngineRouter['listLoads']>
  /** Rejects requests that wait for an engine. */
  stopWaiting: () => void
  close: () => Promise<void>
}

/** Opens the inference group: its own parts, and all its operations. */
export function openInference(config: Config, shared: SharedParts): Inference {
  const { changes, kube, log, pool } = shared
  const enginePods = new EnginePods(kube, log)
  const loaded = new LoadedAdapters(pool, log)
  const router = new EngineRouter(enginePods, loaded, {
    seconds: config.TRAINYARD_HOLD_SECONDS,
    requests: config.TRAINYARD_HOLD_REQUESTS,
  })
  const demand = new DemandReporter({ pool, router, namespace: config.TRAINYARD_NAMESPACE, log })
  const deleted = new DeletedBaseModels({ pool, router, log })
  const engines = new EngineClient(router, shared.engineKeys, log)
  const models = new ModelResolver({ pool, lease: changes })
  const modelUses = new ModelUses(pool)
  modelUses.start(log)
  for (const follower of [models.known, loaded, deleted]) changes.follow(follower)
  const deps = { ...shared, engines, models, modelUses }
  return {
    deps,
    route: (api) => {
      routeGateway(api, deps, pool)
      routeResponses(api, deps)
    },
    listLoads: () => router.listLoads(),
    stopWaiting: () => router.close(),
    close: async () => {
      engines.close()
      await Promise.all([demand.close(), deleted.close(), enginePods.stop(), loaded.close(), modelUses.close()])
    },
  }
}
