import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from '../../db/pool.ts'
import { numberOutbox, outboxBatch } from '../../db/webhooks/outbox.ts'
import { claimDeliveries, recordAttempt, unclaimDelivery, type ClaimedDelivery } from '../../db/webhooks/sending.ts'
import type { Logger } from '../../lib/log.ts'
import type { Outbound } from '../../lib/outbound/outbound.ts'
import type { SealingKeys } from '../../lib/sealing/sealing-keys.ts'
import { sendDelivery } from './send.ts'

// An endpoint that does not answer occupies up to four deliveries for ten seconds. After that, it occupies one now and
// then.
const maxConcurrent = 512
// The poll finds deliveries whose next attempt is due, and changes whose notification was lost.
const pollMs = 1_000
// The changes of this time are numbered in one transaction.
const roundMs = 50

interface Deps {
  pool: Pool
  log: Logger
  outbound: Outbound
  sealingKeys: SealingKeys
}

/**
 * Numbers the outbox and delivers to webhooks, in the operator's leader. It may be killed at any point: a delivery that
 * was sent and not recorded is sent again.
 */
export class WebhookDeliverer {
  readonly #deps: Deps
  readonly #stop = new AbortController()
  readonly #underWay = new Set<Promise<void>>()
  #wake = () => {}
  #woken = true
  #running: Promise<void> = Promise.resolve()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  start(): void {
    this.#running = this.#run()
  }

  /** Call it when there are new changes, or when a delivery has ended. */
  wake(): void {
    this.#woken = true
    this.#wake()
  }

  /** Aborts running deliveries. The next leader sends them again. */
  async close(): Promise<void> {
    this.#stop.abort()
    this.wake()
    await this.#running
    await Promise.all(this.#underWay)
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      this.#woken = false
      try {
        await Promise.all([this.#deliverDue(), delay(roundMs)])
      } catch (error) {
        this.#deps.log.warn({ error }, 'delivering to webhooks failed')
        await delay(pollMs, undefined, { signal: this.#stop.signal }).catch(() => {})
      }
      await this.#pause()
    }
  }

  async #deliverDue(): Promise<void> {
    const { pool } = this.#deps
    while ((await numberOutbox(pool)) === outboxBatch) if (this.#stop.signal.aborted) return
    const room = maxConcurrent - this.#underWay.size
    const claimed = room > 0 ? await claimDeliveries(pool, room) : []
    for (const delivery of claimed) this.#begin(delivery)
  }

  #begin(delivery: ClaimedDelivery): void {
    const attempt = this.#attempt(delivery)
      .catch((error: unknown) => this.#deps.log.warn({ error, deliveryId: delivery.id }, 'a delivery was not recorded'))
      .finally(() => {
        this.#underWay.delete(attempt)
        this.wake()
      })
    this.#underWay.add(attempt)
  }

  async #attempt(delivery: ClaimedDelivery): Promise<void> {
    const { pool } = this.#deps
    const { signal } = this.#stop
    try {
      await recordAttempt(pool, delivery, await sendDelivery(this.#deps, delivery, signal))
    } catch (error) {
      if (!signal.aborted) throw error
      await unclaimDelivery(pool, delivery)
    }
  }

  /** Waits for new changes, at most a second. */
  async #pause(): Promise<void> {
    if (this.#woken) return
    const pause = new AbortController()
    this.#wake = () => pause.abort()
    await delay(pollMs, undefined, { signal: pause.signal }).catch(() => {})
  }
}
