import { setTimeout as delay } from 'node:timers/promises'
import type { DatabaseUrl } from '../db/address.ts'
import { listen } from '../db/listen.ts'
import { outboxChannel } from '../db/webhooks/outbox.ts'
import type { OperatorNamespace } from '../db/store/operator-namespace.ts'
import type { Logger } from '../lib/log.ts'
import { channels, type Controllers } from './controllers.ts'
import type { StoreGuard } from './gc/guard.ts'
import type { ColdStarts } from './metrics/cold-starts.ts'
import type { PodTimes } from './metrics/pod-times.ts'
import { startRestarts, type RestartDeps } from './secret-rotation/restarts.ts'
import { claimNamespace, startNamespaceHeartbeat } from './claim-namespace.ts'
import { startMaintenance, type MaintenanceDeps } from './maintenance.ts'
import { startResync, type ResyncDeps } from './resync.ts'
import type { Watches } from './watches.ts'
import type { WebhookDeliverer } from './webhooks/deliverer.ts'

// Another own must have been left for a minute.
const retryMs = 5_000

interface Deps {
  databaseUrl: DatabaseUrl
  watches: Watches
  controllers: Controllers
  webhooks: WebhookDeliverer
  resync: ResyncDeps
  maintenance: MaintenanceDeps
  guard: StoreGuard
  /** Undefined: there are no Secrets of others that pods read at their start. */
  restarts: RestartDeps | undefined
  podTimes: PodTimes
  coldStarts: ColdStarts
  log: Logger
}

/** The tasks of the replica that holds the lease. */
export class LeaderTasks {
  readonly #deps: Deps
  #isLeading = false
  #namespaceTrouble: string | undefined = 'it was not looked yet whether the namespace is that of the database'
  readonly #stopping = new AbortController()
  readonly #stops: (() => Promise<void>)[] = []

  constructor(deps: Deps) {
    this.#deps = deps
  }

  get isLeading(): boolean {
    return this.#isLeading
  }

  /** Why this replica does not work, though it holds the lease; undefined if it works. */
  get namespaceTrouble(): string | undefined {
    return this.#namespaceTrouble
  }

  /** Call it once, while holding the lease. */
  async start(): Promise<void> {
    const { watches, controllers, webhooks, resync, maintenance, guard, restarts, podTimes, coldStarts } = this.#deps
    await watches.start((change) => {
      if (this.#isLeading) controllers.onChange(change)
      if (change.kind === 'Pod') coldStarts.observe(change.object, change.before)
    })
    // Also while the database does not answer, whose address may be in such a Secret.
    if (restarts) this.#stops.push(startRestarts(restarts))
    const own = await this.#claimNamespace()
    if (!own) return
    this.#isLeading = true
    controllers.addAll()
    const listener = this.#listen()
    webhooks.start()
    this.#stops.push(
      startResync(resync, controllers),
      startNamespaceHeartbeat(resync, own),
      startMaintenance(maintenance, guard),
      podTimes.start(),
      () => listener.close(),
      () => webhooks.close(),
    )
  }

  /** Resolves when no task is running, so that another replica may take the lease. */
  async close(): Promise<void> {
    this.#isLeading = false
    this.#stopping.abort()
    // At once, so that one that takes long does not let the others go on.
    await Promise.all([...this.#stops.map((stop) => stop()), this.#deps.controllers.close()])
    await this.#deps.watches.stop()
  }

  /** Repeats it until we may work here. Returns undefined if we are stopped before. */
  async #claimNamespace(): Promise<OperatorNamespace | undefined> {
    const { resync, log } = this.#deps
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        const own = await claimNamespace(resync)
        this.#namespaceTrouble = undefined
        return own
      } catch (error) {
        this.#namespaceTrouble = error instanceof Error ? error.message : String(error)
        log.error({ error }, 'the operator cannot work here')
        await delay(retryMs, undefined, { signal }).catch(() => {})
      }
    }
    return undefined
  }

  #listen() {
    const { databaseUrl, controllers, webhooks, log } = this.#deps
    const onNotify = (channel: string, id: string) =>
      channel === outboxChannel ? webhooks.wake() : controllers.onNotify(channel, id)
    const handlers = { onNotify, onConnect: () => controllers.addAll() }
    return listen(databaseUrl, [...channels, outboxChannel], handlers, log)
  }
}
