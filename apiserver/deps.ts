import type { Pool } from '../db/pool.ts'
import type { ArtifactStore } from '../lib/artifact-store/store.ts'
import type { Logger } from '../lib/log.ts'
import type { DataSources } from '../lib/outbound/settings.ts'
import type { Config } from './config.ts'
import type { EngineClient } from './gateway/engine-client.ts'
import type { Kube } from './kube.ts'

/** What requests are answered with; made once by main.ts. */
export interface Deps {
  config: Config
  log: Logger
  pool: Pool
  kube: Kube
  artifacts: ArtifactStore
  sources: DataSources
  engines: EngineClient
}
