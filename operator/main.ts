import { directUrlOf, readDatabases } from '../db/address.ts'
import { migrateWhenReady } from '../db/migrate.ts'
import { createPool, createTracePool, patience } from '../db/pool.ts'
import { StorageQuota } from '../artifacts/inputs/storage-quota.ts'
import { openArtifactStore } from '../artifacts/store/settings.ts'
import { waitForStore } from '../artifacts/store/wait-for-store.ts'
import { stopServer } from '../lib/http/server.ts'
import { readLimit } from '../lib/limit-setting.ts'
import { createLogger } from '../lib/log.ts'
import { openDataSources, openWebhooks } from '../lib/outbound/open.ts'
import { readSealingKeys } from '../lib/sealing/settings.ts'
import { onShutdown } from '../lib/shutdown.ts'
import { registerDatabaseMetrics } from '../db/metrics/register.ts'
import { createRegistry } from '../lib/metrics/registry.ts'
import { startMetricsServer } from '../lib/metrics/metrics-server.ts'
import { loadConfig, readPodSettings } from './config.ts'
import { AppliedGenerations } from './base-model/engine/applied-generations.ts'
import { RolloutTurns } from './base-model/engine/rollout.ts'
import { Scales } from './base-model/engine/scales.ts'
import { CrdCheck } from './crd-check/check.ts'
import { Controllers } from './controllers.ts'
import { PodAdapters } from './adapters/pod-adapters.ts'
import { startHealthServer } from './health.ts'
import { StoreGuard } from './gc/guard.ts'
import { KubeClient } from '../lib/kube/client.ts'
import { loadKubeAccess } from '../lib/kube/access.ts'
import { LeaderElector } from '../lib/kube/leader.ts'
import { LeaderTasks } from './leader-tasks.ts'
import { ColdStarts } from './metrics/cold-starts.ts'
import { OperatorEvents } from './metrics/events.ts'
import { PodTimes } from './metrics/pod-times.ts'
import { registerJobMetrics } from './metrics/register-jobs.ts'
import { registerQueueMetrics } from './metrics/register-queues.ts'
import { registerStoreMetrics } from './metrics/register-store.ts'
import { registerWatchMetrics } from './metrics/register-watches.ts'
import { InputFetcher } from './training-job/input-fetcher.ts'
import { explainNotReady } from './readiness.ts'
import { Publisher } from './training-job/publish.ts'
import { stepDown } from './step-down.ts'
import { openSecretRotation } from './secret-rotation/restarts.ts'
import { readTenants, Tenants } from './tenants.ts'
import { Watches } from './watches.ts'
import { WebhookDeliverer } from './webhooks/deliverer.ts'

const config = loadConfig()
const { TRAINYARD_OTHER_SECRETS: otherSecretsFolder, TRAINYARD_ENGINE_KEY: engineKey } = config
const secretRotation = otherSecretsFolder === undefined ? undefined : openSecretRotation(otherSecretsFolder, engineKey)
const podSettings = readPodSettings(config, secretRotation?.atStart)
const artifacts = await openArtifactStore(config)
const sources = await openDataSources(config)
const sealingKeys = readSealingKeys(config)
const log = createLogger('operator', config.LOG_LEVEL)
const namespace = config.TRAINYARD_NAMESPACE
const client = new KubeClient(loadKubeAccess(config), { userAgent: 'trainyard-operator' })
const databases = readDatabases(config)
const databaseUrl = directUrlOf(databases.main)
const pool = createPool(databases.main, log, config.TRAINYARD_DATABASE_CONNECTIONS, patience)
const tracing = createTracePool(databases.tracing, log, config.TRAINYARD_TRACING_CONNECTIONS)
const elector = new LeaderElector({
  client,
  namespace,
  name: 'trainyard-operator',
  identity: config.TRAINYARD_POD_NAME,
  onLost: () => process.exit(1),
  log,
})

const tenants = new Tenants(namespace, readTenants(config.TRAINYARD_TENANTS))
const watches = new Watches({ client, namespace, namespaces: tenants.namespaces, log })
const { baseModels, models, trainingJobs, pods, jobs, deployments, services, disruptionBudgets, baseModelValues } =
  watches
const { engineKeys } = podSettings
const quota = new StorageQuota({ pool, tracing, storedBytes: readLimit(config.TRAINYARD_DEFAULT_STORED_BYTES) })
const children = { pods, jobs, deployments, services, disruptionBudgets }
const cluster = { client, namespace, tenants, baseModels, models, trainingJobs, baseModelValues, ...children }
const registry = createRegistry()
const events = new OperatorEvents(registry)
const controllers = new Controllers({
  ...cluster,
  events,
  pool,
  defaultGpuSeconds: readLimit(config.TRAINYARD_DEFAULT_GPU_SECONDS_PER_DAY),
  log,
  podSettings,
  applied: new AppliedGenerations(),
  podAdapters: new PodAdapters({ pool, log, engineKeys, baseModels, pods, events }),
  rollouts: new RolloutTurns(),
  scales: new Scales(),
  publisher: new Publisher({ pool, log, artifacts, engineKeys, baseModels, pods, events }),
  inputFetcher: new InputFetcher({ pool, log, artifacts, sources, quota }),
})
const traceDays = config.TRAINYARD_TRACE_RETENTION_DAYS ?? null
const guard = new StoreGuard({ pool, tracing, artifacts, log, events })
const leader = new LeaderTasks({
  databaseUrl,
  watches,
  controllers,
  webhooks: new WebhookDeliverer({ pool, log, sealingKeys, outbound: openWebhooks(config) }),
  resync: { ...cluster, pool, log },
  maintenance: { ...cluster, pool, tracing, traceDays, log, artifacts, engineKeys, sealingKeys },
  guard,
  restarts: secretRotation && { ...secretRotation, client, namespace, log },
  podTimes: new PodTimes(registry, { pool, pods, log }),
  coldStarts: new ColdStarts(pods, events),
  log,
})
registerDatabaseMetrics(registry, { main: pool, tracing })
registerQueueMetrics(registry, controllers.queues)
registerWatchMetrics(registry, {
  isLeading: () => leader.isLeading,
  listWatches: () => (leader.isLeading ? watches.own : []),
})
registerStoreMetrics(registry, config.TRAINYARD_ARTIFACTS)
registerJobMetrics(registry, { pool, baseModels, isLeading: () => leader.isLeading })
const crdCheck = new CrdCheck({ client, log })
let isMigrated = false
let storeTrouble: string | undefined
const server = await startHealthServer(config, () => ({
  leading: leader.isLeading,
  watchAgeMs: leader.isLeading ? watches.ageMs : undefined,
  notReady: explainNotReady({
    crdTrouble: crdCheck.trouble,
    isMigrated,
    storeTrouble,
    lease: elector.state,
    watchTrouble: watches.trouble,
    namespaceTrouble: leader.namespaceTrouble,
  }),
  storeTrouble: guard.trouble,
}))
log.info({ host: config.TRAINYARD_HOST, port: config.TRAINYARD_PORT }, 'listening')

await startMetricsServer(config, () => registry.metrics(), log)

const stopStarting = new AbortController()
onShutdown(log, async (beginStep) => {
  stopStarting.abort()
  beginStep('tasks of the leader')
  if (!(await stepDown({ leader, elector, log }))) return
  client.close()
  beginStep('outgoing connections')
  await sources.outbound.close()
  beginStep('connections to the database')
  await pool.end()
  await tracing.end()
  beginStep('health server')
  await stopServer(server, { graceMs: 0 })
})

const { signal } = stopStarting
// With older CRDs, the API server would drop what is written.
await crdCheck.pass(signal)
await migrateWhenReady(databaseUrl, log, { signal })
isMigrated = !signal.aborted
// Training does not wait for the tracing database. The maintenance of traces is repeated until it is available.
void migrateWhenReady(directUrlOf(databases.tracing), log, { part: 'tracing', signal })
await waitForStore(artifacts, log, { signal, onTrouble: (trouble) => (storeTrouble = trouble) })
if (!signal.aborted && (await elector.acquire())) await leader.start()
