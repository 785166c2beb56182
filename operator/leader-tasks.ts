import { listen } from '../db/listen.ts'
import { outboxChannel } from '../db/webhooks/outbox.ts'
import type { Logger } from '../lib/log.ts'
import { channels, type Controllers } from './controllers.ts'
import type { StoreGuard } from './gc/guard.ts'
import { startMaintenance, type MaintenanceDeps } from './maintenance.ts'
import { startResync, type ResyncDeps } from './resync.ts'
import type { Watches } from './watches.ts'
import type { WebhookDeliverer } from './webhooks/deliverer.ts'

interface Deps {
  databaseUrl: string
  watches: Watches
  controllers: Controllers
  webhooks: WebhookDeliverer
  resync: ResyncDeps
  maintenance: MaintenanceDeps
  guard: StoreGuard
  log: Logger
}

/** The tasks of the replica that holds the lease. */
export class LeaderTasks {
  readonly #deps: Deps
  #isLeading = false
  #stops: (() => Promise<void>)[] = []

  constructor(deps: Deps) {
    this.#deps = deps
  }

  get isLeading(): boolean {
    return this.#isLeading
  }

  /** Call it once, while holding the lease. */
  async start(): Promise<void> {
    const { watches, controllers, webhooks, resync, maintenance, guard } = this.#deps
    await watches.start((change) => {
      if (this.#isLeading) controllers.onChange(change)
    })
    this.#isLeading = true
    controllers.addAll()
    const listener = this.#listen()
    webhooks.start()
    this.#stops = [
      startResync(resync, controllers),
      startMaintenance(maintenance, guard),
      () => listener.close(),
      () => webhooks.close(),
    ]
  }

  /** Resolves when no task is running, so that another replica may take the lease. */
  async close(): Promise<void> {
    this.#isLeading = false
    // At once, so that one that takes long does not let the others go on.
    await Promise.all([...this.#stops.map((stop) => stop()), this.#deps.controllers.close()])
    await this.#deps.watches.stop()
  }

  #listen() {
    const { databaseUrl, controllers, webhooks, log } = this.#deps
    const onNotify = (channel: string, id: string) =>
      channel === outboxChannel ? webhooks.wake() : controllers.onNotify(channel, id)
    const handlers = { onNotify, onConnect: () => controllers.addAll() }
    return listen(databaseUrl, [...Object.values(channels), outboxChannel], handlers, log)
  }
}
