import type { Pool } from '../db/pool.ts'
import type { ArtifactStore } from '../artifacts/store/store.ts'
import type { Idempotency } from '../lib/http/idempotency.ts'
import type { Logger } from '../lib/log.ts'
import type { Outbound } from '../lib/outbound/outbound.ts'
import type { DataSources } from '../lib/outbound/settings.ts'
import type { Config } from './config.ts'
import type { EngineClient } from './inference/engine-client.ts'
import type { RevocableResponses } from './accounts/keys/revocable-responses.ts'
import type { ApiKeyLookup } from './accounts/keys/api-key-lookup.ts'
import type { LastUsedTracker } from './accounts/keys/last-used.ts'
import type { Kube } from './kube.ts'
import type { RequestMemory } from './accounts/limits/request-memory.ts'
import type { RequestLimiter } from './accounts/limits/request-limiter.ts'
import type { Slots } from './accounts/limits/slots.ts'
import type { StorageUse } from './accounts/limits/storage.ts'
import type { WorkerPool } from '../lib/worker-threads/pool.ts'
import type { BodyChecker } from './training/ingest/body-checker.ts'
import type { EventHub } from './training/training-jobs/events/hub.ts'
import type { UsageLedger } from './accounts/usage/ledger.ts'

/** What requests are answered with; made once by main.ts. */
export interface Deps {
  config: Config
  log: Logger
  pool: Pool
  /** Of traces alone: a flood of them stops nothing else. */
  tracing: Pool
  /** For calls that come in and for finding projects, whoever reads meanwhile. */
  traceWrites: Pool
  /** Of the requests that carry an Idempotency-Key. */
  idempotency: Idempotency
  kube: Kube
  artifacts: ArtifactStore
  bodies: BodyChecker
  /** For all that takes long. */
  heavyThreads: WorkerPool
  sources: DataSources
  /** which addresses webhooks may have */
  webhooks: Pick<Outbound, 'check'>
  engines: EngineClient
  events: EventHub
  apiKeys: ApiKeyLookup
  lastUsed: LastUsedTracker
  responses: RevocableResponses
  requestLimiter: RequestLimiter
  /** Of bodies and of what is made of them, for both groups and the gateway. */
  memory: RequestMemory
  chatSlots: Slots
  eventSlots: Slots
  storage: StorageUse
  usage: UsageLedger
}
