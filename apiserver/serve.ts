import cluster from 'node:cluster'
import { ChangeFeed } from '../db/changes.ts'
import { directUrlOf, readDatabases } from '../db/address.ts'
import { migrateWhenReady } from '../db/migrate.ts'
import { createPool, createTracePool } from '../db/pool.ts'
import { createIdempotencyStore } from '../db/idempotent-requests.ts'
import { registerDatabaseMetrics } from '../db/metrics/register.ts'
import { openArtifactStore } from '../artifacts/store/settings.ts'
import { waitForStore } from '../artifacts/store/wait-for-store.ts'
import { createLogger } from '../lib/log.ts'
import { HttpMeter } from '../lib/metrics/http-meter.ts'
import { startMetricsServer } from '../lib/metrics/metrics-server.ts'
import { createRegistry } from '../lib/metrics/registry.ts'
import { repeat } from '../lib/repeat.ts'
import { onShutdown, type BeginStep } from '../lib/shutdown.ts'
import { createApp } from './app.ts'
import { listEngineKeys, loadConfig, openPublicBase } from './config.ts'
import { ApiKeyLookup } from './accounts/keys/api-key-lookup.ts'
import { RevocableResponses } from './accounts/keys/revocable-responses.ts'
import { LastUsedTracker } from './accounts/keys/last-used.ts'
import { createKube } from './kube.ts'
import { closeMs } from './processes/config.ts'
import { registerGatewayMetrics } from './metrics/register-gateway.ts'
import { connectToSupervisor } from './processes/connect.ts'
import { RequestMemory } from './accounts/limits/request-memory.ts'
import { RequestLimiter } from './accounts/limits/request-limiter.ts'
import { TokenLimiter } from './accounts/limits/token-limiter.ts'
import { createChatSlots, createEventSlots } from './accounts/limits/slots.ts'
import { StorageUse } from './accounts/limits/storage.ts'
import { Idempotency } from '../lib/http/idempotency.ts'
import { startServer, stopServer } from '../lib/http/server.ts'
import { openGroups } from './open-groups.ts'
import { serverSettings } from './server-settings.ts'
import { openHeavyThreads } from './accounts/limits/heavy-threads.ts'
import { UsageLedger } from './accounts/usage/ledger.ts'

// The part of `closeMs` that remains for the traces of chats, even if the last response used the rest.
const minTraceMs = 2_000
// How long clients that keep a connection may leave it unused before an apiserver that ends closes it: 15 s of the default of
// 300 s. A request that meets the end of its connection fails.
const minIdleMs = 1_000
// A killed process loses at most the usage of chats in this time.
const flushMs = 1_000
// The maximum time that a stream continues after the end of its key, without the time of the query.
const revocationMs = 750
// Proxies and users give up sooner. A connection that is not slow transfers a megabyte in a second.
const answerTimes = { stallMs: 60_000, minBytesPerSecond: 1024 * 1024 }
// Removes spooled bodies of a killed process. A body that is still being received is written to all the time, so that
// it stays.
const sweepMs = 10 * 60_000
const abandonedMs = 6 * 60 * 60_000

const config = loadConfig()
const log = createLogger('apiserver', config.LOG_LEVEL)
const databases = readDatabases(config)
const databaseUrl = directUrlOf(databases.main)
const pool = createPool(databases.main, log, config.TRAINYARD_DATABASE_CONNECTIONS)
const tracing = createTracePool(databases.tracing, log, config.TRAINYARD_TRACING_CONNECTIONS)
const traceWrites = createTracePool(databases.tracing, log, config.TRAINYARD_TRACE_WRITE_CONNECTIONS)
const artifacts = await openArtifactStore(config)

const changes = new ChangeFeed()
const apiKeys = new ApiKeyLookup({ pool, lease: changes, limitDefaults: config })
const lastUsed = new LastUsedTracker(pool)
const responses = new RevocableResponses(pool, changes)
for (const follower of [apiKeys.known, responses]) changes.follow(follower)
const usage = new UsageLedger(pool)
const registry = createRegistry()
const meter = new HttpMeter()
const openPermits = cluster.isWorker ? connectToSupervisor(() => registry.getMetricsAsJSON()) : undefined

let isMigrated = false
let storeTrouble: string | undefined
const shared = {
  isMigrated: () => isMigrated,
  storeTrouble: () => storeTrouble,
  answerTimes,
  limitDefaults: config,
  engineKey: config.TRAINYARD_ENGINE_KEY,
  engineKeys: listEngineKeys(config),
  namespace: config.TRAINYARD_NAMESPACE,
  bodyLimitBytes: config.TRAINYARD_BODY_LIMIT_BYTES,
  uploadLimitBytes: config.TRAINYARD_UPLOAD_LIMIT_BYTES,
  pricesFile: config.TRAINYARD_TRACING_PRICES,
  findPublicBase: openPublicBase(config),
  log,
  databaseUrl,
  pool,
  tracing,
  traceWrites,
  changes,
  idempotency: new Idempotency(createIdempotencyStore(pool), log),
  kube: createKube(config),
  artifacts,
  heavyThreads: openHeavyThreads(),
  apiKeys,
  lastUsed,
  responses,
  usage,
  requestLimiter: new RequestLimiter(pool),
  tokenLimiter: new TokenLimiter(pool),
  memory: new RequestMemory(),
  meter,
  chatSlots: createChatSlots(openPermits),
  eventSlots: createEventSlots(openPermits),
  storage: new StorageUse({ pool, tracing: traceWrites }),
}
const groups = await openGroups(config, shared)
meter.register(registry)
registerDatabaseMetrics(registry, { main: pool, tracing, trace_writes: traceWrites })
const { inference } = groups
if (inference) registerGatewayMetrics(registry, () => inference.listLoads())
// The supervisor serves the metrics of all its processes.
if (!cluster.isWorker) await startMetricsServer(config, () => registry.metrics(), log)
const opened = [groups.training, groups.inference].filter((group) => group !== undefined)
const server = await startServer(createApp(shared, groups), {
  host: config.TRAINYARD_HOST,
  port: config.TRAINYARD_PORT,
  ...serverSettings,
})
log.info({ host: config.TRAINYARD_HOST, port: config.TRAINYARD_PORT }, 'listening')

const flush = async () => {
  await usage.flush()
  await lastUsed.flush()
}
const background = new AbortController()
const inBackground = (work: () => Promise<void>, pauseMs: number, failure: string) =>
  repeat(work, {
    pauseMs,
    pauseFirst: true,
    signal: background.signal,
    onError: (error) => log.warn({ error }, failure),
  })
const notFlushed = 'usage not written yet'
const flushing = inBackground(flush, flushMs, notFlushed)
// Both loops end with the process, so that nothing has to wait for them.
void inBackground(() => responses.abortRevoked(), revocationMs, 'revoked keys not looked for')
void inBackground(() => artifacts.sweepTemporary(abandonedMs), sweepMs, 'temporary files not swept')
const stop = new AbortController()
const drainMs = config.TRAINYARD_DRAIN_SECONDS * 1_000
const shutDown = async (beginStep: BeginStep) => {
  const deadlineMs = performance.now() + drainMs
  stop.abort()
  // Streams of events end now, and their clients reconnect to another process.
  groups.training?.stopWaiting()
  // Chats that wait for an engine have half of the time for that, and the other half for their answers.
  const endWaits = setTimeout(() => inference?.stopWaiting(), drainMs / 2)
  beginStep('requests')
  await stopServer(server, { graceMs: drainMs, minIdleMs: Math.max(minIdleMs, drainMs / 20) })
  clearTimeout(endWaits)
  beginStep('traces of chats')
  await groups.chats?.close(Math.max(deadlineMs - performance.now(), minTraceMs))
  beginStep('change feed')
  await changes.close()
  beginStep('groups')
  for (const group of opened) await group.close()
  beginStep('usage')
  background.abort()
  await flushing
  await flush().catch((error: unknown) => log.warn({ error }, notFlushed))
  beginStep('connections to the database')
  await pool.end()
  await tracing.end()
  await traceWrites.end()
}
onShutdown(log, shutDown, drainMs + closeMs)
void waitForStore(artifacts, log, { signal: stop.signal, onTrouble: (trouble) => (storeTrouble = trouble) })
// In the meantime, the health check is answered, so that a process that only waits for its database is not restarted.
await migrateWhenReady(databaseUrl, log, { signal: stop.signal })
isMigrated = !stop.signal.aborted
if (isMigrated) changes.start(databaseUrl, log)
await migrateWhenReady(directUrlOf(databases.tracing), log, { part: 'tracing', signal: stop.signal })
