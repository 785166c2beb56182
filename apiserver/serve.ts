import type { Server } from 'node:http'
import { openArtifactStore } from '../artifacts/store/settings.ts'
import { waitForStore } from '../artifacts/store/wait-for-store.ts'
import { recordKeyUses } from '../db/accounts/key-uses.ts'
import { recordSessionUses } from '../db/accounts/sessions.ts'
import { directUrlOf, readDatabases } from '../db/address.ts'
import { ChangeFeed } from '../db/changes.ts'
import { createIdempotencyStore } from '../db/idempotent-requests.ts'
import { registerDatabaseMetrics } from '../db/metrics/register.ts'
import { migrateWhenReady } from '../db/migrate.ts'
import { createPool, createTracePool, forRequests, forTraces } from '../db/pool.ts'
import { Idempotency } from '../lib/http/idempotency.ts'
import { startServer, stopServer } from '../lib/http/server.ts'
import { createLogger, type Logger } from '../lib/log.ts'
import { HttpMeter } from '../lib/metrics/http-meter.ts'
import { startMetricsServer } from '../lib/metrics/metrics-server.ts'
import { createRegistry } from '../lib/metrics/registry.ts'
import type { BeginStep } from '../lib/shutdown.ts'
import { ApiKeyLookup } from './accounts/keys/api-key-lookup.ts'
import { LastUsedTracker } from './accounts/keys/last-used.ts'
import { RevocableResponses } from './accounts/keys/revocable-responses.ts'
import { openHeavyThreads } from './accounts/limits/heavy-threads.ts'
import { Admission } from './accounts/limits/admission.ts'
import { MinutePoints } from './accounts/limits/minute-points.ts'
import { RequestMemory } from './accounts/limits/request-memory.ts'
import { StorageUse } from './accounts/limits/storage.ts'
import { TokenLimiter } from './accounts/limits/token-limiter.ts'
import { UsageLedger } from './accounts/usage/ledger.ts'
import { createApp, openGroups, type OpenGroups } from './app.ts'
import { startBackground } from './background.ts'
import { listEngineKeys, listTrustedProxies, openPublicBase, type Config } from './config.ts'
import { createKube } from './kube.ts'
import { registerGatewayMetrics } from './metrics/register-gateway.ts'
import { connectionsPerStranger, serverSettings } from './server-settings.ts'

/** How long a process may take to close everything after its last response. */
export const closeMs = 5_000
// The part of `closeMs` that remains for the traces of chats, even if the last response used the rest.
const minTraceMs = 2_000
// How long clients that keep a connection may leave it unused before an apiserver that ends closes it: 15 s of the default of
// 300 s. A request that meets the end of its connection fails.
const minIdleMs = 1_000
// Proxies and users give up sooner. A connection that is not slow transfers a megabyte in a second.
const answerTimes = { stallMs: 60_000, minBytesPerSecond: 1024 * 1024 }

/** A server that answers requests. */
export interface Serving {
  log: Logger
  /** Resolves when the databases are migrated. Until then, only the health check is answered. */
  migrated: Promise<void>
  /** Ends everything. Responses may continue for `drainMs`. */
  close: (drainMs: number, beginStep?: BeginStep) => Promise<void>
}

/** Starts an apiserver in this process. Resolves when its port is open. @throws {ConfigError} */
export async function serve(config: Config): Promise<Serving> {
  const log = createLogger('apiserver', config.LOG_LEVEL)
  const shared = await createSharedParts(config, log)
  const groups = await openGroups(config, shared)
  const stop = new AbortController()
  const state = { isMigrated: false, storeTrouble: undefined as string | undefined }
  const health = { isMigrated: () => state.isMigrated, storeTrouble: () => state.storeTrouble }
  const metrics = await startMetrics(config, shared, groups)
  const server = await startServer(createApp({ ...shared, ...health }, groups), {
    host: config.TRAINYARD_HOST,
    port: config.TRAINYARD_PORT,
    ...serverSettings,
    share: { most: connectionsPerStranger, trustedProxies: listTrustedProxies(config) },
  })
  log.info({ host: config.TRAINYARD_HOST, port: config.TRAINYARD_PORT }, 'listening')
  const background = startBackground(shared)
  const onTrouble = (trouble: string | undefined) => (state.storeTrouble = trouble)
  void waitForStore(shared.artifacts, log, { signal: stop.signal, onTrouble })
  const migrated = migrate(shared, stop.signal, () => (state.isMigrated = true))
  const close: Serving['close'] = async (drainMs, beginStep = () => {}) => {
    stop.abort()
    await endRequests({ server, groups, drainMs, beginStep })
    beginStep('change feed')
    await shared.changes.close()
    beginStep('groups')
    await groups.training?.close()
    await groups.inference?.close()
    beginStep('usage')
    await background.close()
    beginStep('connections to the database')
    for (const pool of [shared.pool, shared.tracing, shared.traceWrites]) await pool.end()
    metrics?.close()
  }
  return { log, migrated, close }
}

function startMetrics(config: Config, shared: SharedParts, { inference }: OpenGroups): Promise<Server | undefined> {
  const { registry, meter, pool, tracing, traceWrites, log } = shared
  meter.register(registry)
  registerDatabaseMetrics(registry, { main: pool, tracing, trace_writes: traceWrites })
  if (inference) registerGatewayMetrics(registry, () => inference.listLoads())
  return startMetricsServer(config, () => registry.metrics(), log)
}

interface EndOfRequests {
  server: Server
  groups: OpenGroups
  drainMs: number
  beginStep: BeginStep
}

async function endRequests({ server, groups, drainMs, beginStep }: EndOfRequests): Promise<void> {
  const deadlineMs = performance.now() + drainMs
  // Streams of events end now, and their clients reconnect to another process.
  groups.training?.stopWaiting()
  // Chats that wait for an engine have half of the time for that, and the other half for their answers.
  const endWaits = setTimeout(() => groups.inference?.stopWaiting(), drainMs / 2)
  beginStep('requests')
  await stopServer(server, { graceMs: drainMs, minIdleMs: Math.max(minIdleMs, drainMs / 20) })
  clearTimeout(endWaits)
  beginStep('traces of chats')
  await groups.chats?.close(Math.max(deadlineMs - performance.now(), minTraceMs))
}

/** In the meantime, the health check is answered, so that a process that only waits for its database is not restarted. */
async function migrate(shared: SharedParts, signal: AbortSignal, onMigrated: () => void): Promise<void> {
  const { log, databaseUrl, tracingDatabaseUrl, changes } = shared
  await migrateWhenReady(databaseUrl, log, { signal })
  if (!signal.aborted) {
    onMigrated()
    changes.start(databaseUrl, log)
  }
  await migrateWhenReady(tracingDatabaseUrl, log, { part: 'tracing', signal })
}

/** What the groups of a server share, and what its start and its shutdown need. */
type SharedParts = Awaited<ReturnType<typeof createSharedParts>>

/** Creates the parts. Nothing runs yet. @throws {ConfigError} */
export async function createSharedParts(config: Config, log: Logger) {
  const databases = readDatabases(config)
  const pool = createPool(databases.main, log, config.TRAINYARD_DATABASE_CONNECTIONS, forRequests)
  const traceWrites = createTracePool(databases.tracing, log, config.TRAINYARD_TRACE_WRITE_CONNECTIONS, forTraces)
  const changes = new ChangeFeed()
  const memory = new RequestMemory()
  const admission = new Admission(memory, { traceConnections: config.TRAINYARD_TRACING_CONNECTIONS })
  return {
    ...readValues(config),
    ...createKeyParts(config, { admission, changes, pool }),
    log,
    databaseUrl: directUrlOf(databases.main),
    tracingDatabaseUrl: directUrlOf(databases.tracing),
    pool,
    tracing: createTracePool(databases.tracing, log, config.TRAINYARD_TRACING_CONNECTIONS, forTraces),
    traceWrites,
    changes,
    registry: createRegistry(),
    meter: new HttpMeter(),
    idempotency: new Idempotency(createIdempotencyStore(pool), log),
    kube: createKube(config),
    artifacts: await openArtifactStore(config),
    heavyThreads: openHeavyThreads(),
    usage: new UsageLedger(pool),
    requestLimiter: new MinutePoints(pool, 'requests_per_minute'),
    tokenLimiter: new TokenLimiter(pool),
    memory,
    admission,
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

interface KeyPartDeps {
  admission: Admission
  changes: ChangeFeed
  pool: ReturnType<typeof createPool>
}

function createKeyParts(config: Config, { admission, changes, pool }: KeyPartDeps) {
  const apiKeys = new ApiKeyLookup({ admission, pool, lease: changes, limitDefaults: config })
  const responses = new RevocableResponses(pool, changes)
  for (const follower of [apiKeys.known, responses]) changes.follow(follower)
  const lastUsed = new LastUsedTracker((ids) => recordKeyUses(pool, ids))
  const sessionsLastUsed = new LastUsedTracker((ids) => recordSessionUses(pool, ids))
  return { apiKeys, responses, lastUsed, sessionsLastUsed }
}
