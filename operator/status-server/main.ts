import { startServer, stopServer } from '../../lib/http/server.ts'
import { directUrlOf, readDatabases } from '../../db/address.ts'
import { listen } from '../../db/listen.ts'
import { migrateWhenReady } from '../../db/migrate.ts'
import { registerDatabaseMetrics } from '../../db/metrics/register.ts'
import { createPool } from '../../db/pool.ts'
import { claimJob } from '../../db/jobs/claims.ts'
import { createLogger } from '../../lib/log.ts'
import { HttpMeter } from '../../lib/metrics/http-meter.ts'
import { startMetricsServer } from '../../lib/metrics/metrics-server.ts'
import { createRegistry } from '../../lib/metrics/registry.ts'
import { onShutdown } from '../../lib/shutdown.ts'
import { KubeClient } from '../../lib/kube/client.ts'
import { loadKubeAccess } from '../../lib/kube/access.ts'
import { readLimit } from '../../lib/limit-setting.ts'
import { createApp } from './app.ts'
import { authenticate, type Accounts } from './auth.ts'
import { ClaimQueue } from './claim-queue.ts'
import { loadConfig, readAccounts } from './config.ts'
import { createIssuerReader, IssuerKeys } from './issuer-keys.ts'
import { startReleasingLeases } from './expired-leases.ts'
import { createUidReader, LivePods } from './live-pods.ts'
import { explainNotReady } from './readiness.ts'

const config = loadConfig()
const log = createLogger('status-server', config.LOG_LEVEL)
const { main: database } = readDatabases(config)
const pool = createPool(database, log, config.TRAINYARD_DATABASE_CONNECTIONS)
const defaults = {
  weight: config.TRAINYARD_DEFAULT_WEIGHT,
  gpuSecondsPerDay: readLimit(config.TRAINYARD_DEFAULT_GPU_SECONDS_PER_DAY),
}
const queue = new ClaimQueue((claimant, only) => claimJob(pool, claimant, defaults, only))
const wake = () => queue.wake()
const listener = listen(directUrlOf(database), ['training_queue'], { onNotify: wake, onConnect: wake }, log)
const kube = new KubeClient(loadKubeAccess(config), { userAgent: 'trainyard-status-server' })
const keys = new IssuerKeys(createIssuerReader(kube))
// Read before the first trainer comes: kube-apiserver may be unavailable then.
keys.get().catch((error: unknown) => log.warn({ error }, 'issuer keys not read yet'))

let isMigrated = false
const explainUnready = () => explainNotReady({ isMigrated: () => isMigrated, keys })

const namespace = config.TRAINYARD_NAMESPACE
const { trainers, engines } = readAccounts(config)
const pods = new LivePods(createUidReader(kube, namespace), log)
const authenticateAs = (serviceAccounts: Accounts['serviceAccounts']) => async (header: string | undefined) =>
  pods.require(await authenticate(header, keys, { namespace, serviceAccounts }))
const registry = createRegistry()
const meter = new HttpMeter()
meter.register(registry)
registerDatabaseMetrics(registry, { main: pool })
await startMetricsServer(config, () => registry.metrics(), log)

const app = createApp({
  meter,
  pool,
  queue,
  log,
  explainNotReady: explainUnready,
  authenticate: authenticateAs(trainers),
  authenticateEngine: authenticateAs(engines),
  authenticatePod: authenticateAs([...engines, ...trainers]),
})
const handle = app.callback()
const server = await startServer((request, response) => void handle(request, response), {
  host: config.TRAINYARD_HOST,
  port: config.TRAINYARD_PORT,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
})
log.info({ host: config.TRAINYARD_HOST, port: config.TRAINYARD_PORT }, 'listening')

const stop = new AbortController()
let stopSweeper = async () => {}
onShutdown(log, async (beginStep) => {
  stop.abort()
  queue.close()
  // Running requests get their answers.
  beginStep('requests')
  await stopServer(server, { graceMs: Infinity })
  beginStep('notifications and the release of leases')
  await Promise.all([stopSweeper(), listener.close()])
  kube.close()
  beginStep('connections to the database')
  await pool.end()
})

await migrateWhenReady(directUrlOf(database), log, { signal: stop.signal })
isMigrated = !stop.signal.aborted
// The wake-up after each sweep covers notifications that were lost with the connection.
const isServing = async () => (await explainUnready()) === undefined
if (isMigrated) stopSweeper = startReleasingLeases({ pool, log, isServing, afterRelease: wake })
