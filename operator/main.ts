import { once } from 'node:events'
import { listen, type Listener } from '../db/listen.ts'
import { migrateWhenReady } from '../db/migrate.ts'
import { createPool, createTracePool } from '../db/pool.ts'
import { outboxChannel } from '../db/webhooks/outbox.ts'
import { FetchRoom } from '../artifacts/inputs/room.ts'
import { openArtifactStore } from '../artifacts/store/settings.ts'
import { readLimit } from '../lib/limit-setting.ts'
import { createLogger } from '../lib/log.ts'
import { openDataSources, openWebhooks } from '../lib/outbound/settings.ts'
import { onShutdown } from '../lib/shutdown.ts'
import { loadConfig, readPodSettings } from './config.ts'
import type { Context } from './context.ts'
import { Controllers, channels } from './controllers.ts'
import { createHealthServer } from './health.ts'
import { StoreGuard } from './gc/guard.ts'
import { KubeClient } from '../lib/kube/client.ts'
import { loadKubeAccess } from '../lib/kube/access.ts'
import { LeaderElector } from '../lib/kube/leader.ts'
import { startResync } from './resync.ts'
import { startUpkeep } from './maintenance.ts'
import { Watches } from './watches.ts'
import { WebhookDeliverer } from './webhooks/deliverer.ts'

// For upkeep alone: erasures beside two things that look something up while they keep a key from being written.
const tracingConnections = 4

const config = loadConfig()
const podSettings = readPodSettings(config)
const artifacts = openArtifactStore(config)
const sources = openDataSources(config)
const log = createLogger('operator', config.LOG_LEVEL)
const namespace = config.TRAINYARD_NAMESPACE
const client = new KubeClient(loadKubeAccess(config), { userAgent: 'trainyard-operator' })
const pool = createPool(config.DATABASE_URL, log)
const tracingUrl = config.TRACING_DATABASE_URL ?? config.DATABASE_URL
const tracing = createTracePool(tracingUrl, log, tracingConnections)
const elector = new LeaderElector({
  client,
  namespace,
  name: 'trainyard-operator',
  identity: config.TRAINYARD_POD_NAME,
  onLost: () => process.exit(1),
  log,
})

let leading = false
const watches = new Watches({ client, namespace, log }, (kind, object) => {
  if (leading) controllers.onChange(kind, object)
})
const engineKey = config.TRAINYARD_ENGINE_KEY
const { baseModels, models, trainingJobs, pods, deployments } = watches
const seen = { baseModels, models, trainingJobs, pods, deployments }
const traceDays = config.TRAINYARD_TRACE_RETENTION_DAYS ?? null
const databases = { pool, tracing, traceDays }
const room = new FetchRoom({ pool, tracing, storedBytes: readLimit(config.TRAINYARD_DEFAULT_STORED_BYTES) })
const inputs = { artifacts, sources, room }
const context: Context = { client, ...databases, log, namespace, ...inputs, podSettings, engineKey, ...seen }
const controllers = new Controllers(context)
const webhooks = new WebhookDeliverer({ pool, log, outbound: openWebhooks(config) })

let listener: Listener | undefined
let stopResync: (() => Promise<void>) | undefined
let stopUpkeep: (() => Promise<void>) | undefined
const guard = new StoreGuard(context)
const server = createHealthServer(() => ({
  leading,
  watchAgeMs: leading ? watches.ageMs : undefined,
  storeTrouble: guard.trouble,
}))
server.listen(config.TRAINYARD_PORT, config.TRAINYARD_HOST, () => {
  log.info({ host: config.TRAINYARD_HOST, port: config.TRAINYARD_PORT }, 'listening')
})

const stopMigrating = new AbortController()
onShutdown(log, async () => {
  leading = false
  stopMigrating.abort()
  await Promise.all([stopResync?.(), stopUpkeep?.(), listener?.close(), webhooks.close()])
  await controllers.close()
  await watches.stop()
  // Only when nothing is under way any more may somebody else start.
  await elector.release().catch((error: unknown) => log.warn({ error }, 'the lease was not given up'))
  client.close()
  await sources.outbound.close()
  await pool.end()
  await tracing.end()
  server.closeAllConnections()
  if (server.listening) await once(server.close(), 'close')
})

await migrateWhenReady(config.DATABASE_URL, log)
// Training does not wait for the database of traces; their upkeep fails until it is there, and is repeated.
void migrateWhenReady(tracingUrl, log, { part: 'tracing', signal: stopMigrating.signal })
await elector.acquire()
await watches.start()
leading = true
controllers.addAll()
listener = listen(
  config.DATABASE_URL,
  [...Object.values(channels), outboxChannel],
  {
    onNotify: (channel, id) => (channel === outboxChannel ? webhooks.wake() : controllers.onNotify(channel, id)),
    onConnect: () => controllers.addAll(),
  },
  log,
)
webhooks.start()
stopResync = startResync(context, controllers)
stopUpkeep = startUpkeep(context, guard)
