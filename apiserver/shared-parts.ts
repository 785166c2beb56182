import cluster from 'node:cluster'
import { recordKeyUses } from '../db/accounts/key-uses.ts'
import { recordSessionUses } from '../db/accounts/sessions.ts'
import { ChangeFeed } from '../db/changes.ts'
import { directUrlOf, readDatabases } from '../db/address.ts'
import { createIdempotencyStore } from '../db/idempotent-requests.ts'
import { createPool, createTracePool, forRequests, forTraces } from '../db/pool.ts'
import { openArtifactStore } from '../artifacts/store/settings.ts'
import { Idempotency } from '../lib/http/idempotency.ts'
import type { Logger } from '../lib/log.ts'
import { HttpMeter } from '../lib/metrics/http-meter.ts'
import { createRegistry } from '../lib/metrics/registry.ts'
import { ApiKeyLookup } from './accounts/keys/api-key-lookup.ts'
import { LastUsedTracker } from './accounts/keys/last-used.ts'
import { RevocableResponses } from './accounts/keys/revocable-responses.ts'
import { openHeavyThreads } from './accounts/limits/heavy-threads.ts'
import { RequestLimiter } from './accounts/limits/request-limiter.ts'
import { RequestMemory } from './accounts/limits/request-memory.ts'
import { createChatSlots, createEventSlots } from './accounts/limits/slots.ts'
import { StorageUse } from './accounts/limits/storage.ts'
import { TokenLimiter } from './accounts/limits/token-limiter.ts'
import { UsageLedger } from './accounts/usage/ledger.ts'
import { listEngineKeys, openPublicBase, type Config } from './config.ts'
import { createKube } from './kube.ts'
import { connectToSupervisor } from './processes/connect.ts'

// Proxies and users give up sooner. A connection that is not slow transfers a megabyte in a second.
const answerTimes = { stallMs: 60_000, minBytesPerSecond: 1024 * 1024 }

/** What the groups of a server share, and what its start and its shutdown need. */
export type SharedParts = Awaited<ReturnType<typeof createSharedParts>>

/** Creates the parts. Nothing runs yet. @throws {ConfigError} */
export async function createSharedParts(config: Config, log: Logger) {
  const databases = readDatabases(config)
  const pool = createPool(databases.main, log, config.TRAINYARD_DATABASE_CONNECTIONS, forRequests)
  const traceWrites = createTracePool(databases.tracing, log, config.TRAINYARD_TRACE_WRITE_CONNECTIONS, forTraces)
  const changes = new ChangeFeed()
  const registry = createRegistry()
  const openPermits = cluster.isWorker ? connectToSupervisor(() => registry.getMetricsAsJSON()) : undefined
  return {
    ...readValues(config),
    ...createKeyParts(config, pool, changes),
    log,
    databaseUrl: directUrlOf(databases.main),
    tracingDatabaseUrl: directUrlOf(databases.tracing),
    pool,
    tracing: createTracePool(databases.tracing, log, config.TRAINYARD_TRACING_CONNECTIONS, forTraces),
    traceWrites,
    changes,
    registry,
    meter: new HttpMeter(),
    idempotency: new Idempotency(createIdempotencyStore(pool), log),
    kube: createKube(config),
    artifacts: await openArtifactStore(config),
    heavyThreads: openHeavyThreads(),
    usage: new UsageLedger(pool),
    requestLimiter: new RequestLimiter(pool),
    tokenLimiter: new TokenLimiter(pool),
    memory: new RequestMemory(),
    chatSlots: createChatSlots(openPermits),
    eventSlots: createEventSlots(openPermits),
    storage: new StorageUse({ pool, tracing: traceWrites }),
  }
}

function readValues(config: Config) {
  return {
    answerTimes,
    limitDefaults: config,
    engineKey: config.TRAINYARD_ENGINE_KEY,
    engineKeys: listEngineKeys(config),
    namespace: config.TRAINYARD_NAMESPACE,
    bodyLimitBytes: config.TRAINYARD_BODY_LIMIT_BYTES,
    uploadLimitBytes: config.TRAINYARD_UPLOAD_LIMIT_BYTES,
    pricesFile: config.TRAINYARD_TRACING_PRICES,
    findPublicBase: openPublicBase(config),
  }
}

function createKeyParts(config: Config, pool: ReturnType<typeof createPool>, changes: ChangeFeed) {
  const apiKeys = new ApiKeyLookup({ pool, lease: changes, limitDefaults: config })
  const responses = new RevocableResponses(pool, changes)
  for (const follower of [apiKeys.known, responses]) changes.follow(follower)
  const lastUsed = new LastUsedTracker((ids) => recordKeyUses(pool, ids))
  const sessionsLastUsed = new LastUsedTracker((ids) => recordSessionUses(pool, ids))
  return { apiKeys, responses, lastUsed, sessionsLastUsed }
}
