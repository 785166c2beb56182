import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from '../../db/pool.ts'
import { numberOutbox } from '../../db/webhooks/outbox.ts'
import { claimDeliveries, recordAttempt, unclaimDelivery, type ClaimedDelivery } from '../../db/webhooks/sending.ts'
import type { Logger } from '../../lib/log.ts'
import type { Outbound } from '../../lib/outbound/outbound.ts'
import { sendDelivery } from './send.ts'

// An endpoint that does not answer takes up to four of them for ten seconds; from then on one, and rarely.
const atOnce = 512
// When what is to be tried again comes due, or a notification was lost.
const lookEveryMs = 1_000

interface Deps {
  pool: Pool
  log: Logger
  outbound: Outbound
}

/**
 * Numbers the outbox and delivers to webhooks, in the operator's leader. It may be killed at any point: a delivery
 * that was sent and not noted is sent again.
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

  /** There is something new, or room. */
  wake(): void {
    this.#woken = true
    this.#wake()
  }

  /** Breaks off what is under way: it is sent again by the next leader. */
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
        await this.#lookOnce()
      } catch (error) {
        this.#deps.log.warn({ error }, 'webhooks not looked at')
        await delay(lookEveryMs, undefined, { signal: this.#stop.signal }).catch(() => {})
      }
      await this.#rest()
    }
  }

  async #lookOnce(): Promise<void> {
    const { pool } = this.#deps
    while ((await numberOutbox(pool)) > 0) if (this.#stop.signal.aborted) return
    const room = atOnce - this.#underWay.size
    const claimed = room > 0 ? await claimDeliveries(pool, room) : []
    for (const delivery of claimed) this.#begin(delivery)
  }

  #begin(delivery: ClaimedDelivery): void {
    const attempt = this.#attempt(delivery)
      .catch((error: unknown) => this.#deps.log.warn({ error, deliveryId: delivery.id }, 'delivery not noted'))
      .finally(() => {
        this.#underWay.delete(attempt)
        this.wake()
      })
    this.#underWay.add(attempt)
  }

  async #attempt(delivery: ClaimedDelivery): Promise<void> {
    const { pool, outbound } = this.#deps
    const { signal } = this.#stop
    try {
      await recordAttempt(pool, delivery, await sendDelivery(outbound, delivery, signal))
    } catch (error) {
      if (!signal.aborted) throw error
      await unclaimDelivery(pool, delivery)
    }
  }

  /** Until there is something new, and a second at most. */
  async #rest(): Promise<void> {
    if (this.#woken) return
    const rest = new AbortController()
    this.#wake = () => rest.abort()
    await delay(lookEveryMs, undefined, { signal: rest.signal }).catch(() => {})
  }
}
