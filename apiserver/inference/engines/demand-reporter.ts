import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { reportEngineDemand, withdrawEngineDemand, type Gateway } from '../../../db/demand/engine-demand.ts'
import type { Pool } from '../../../db/pool.ts'
import type { Logger } from '../../../lib/log.ts'
import { repeat } from '../../../lib/repeat.ts'
import type { EngineRouter } from './engine-router.ts'
import { planDemandReport, type ReportedDemand } from './plan-demand-report.ts'

// However many requests are held, so many reports are written at most.
const minPauseMs = 250
const everyMs = 1_000

interface Deps {
  pool: Pool
  router: Pick<EngineRouter, 'takePeaks' | 'onHeld'>
  namespace: string
  log: Logger
}

/**
 * Tells the operator how many requests this process has for the engines of each base model, beside the requests. No
 * request waits for it. While Postgres is not available, the operator changes no number of engines.
 */
export class DemandReporter {
  readonly #deps: Deps
  readonly #gateway: Gateway
  readonly #stop = new AbortController()
  readonly #running: Promise<void>
  #known = new Map<string, ReportedDemand>()
  #woken = Promise.withResolvers<void>()

  constructor(deps: Deps) {
    this.#deps = deps
    this.#gateway = { process: randomUUID(), namespace: deps.namespace }
    deps.router.onHeld(() => this.#woken.resolve())
    const onError = (error: unknown) => deps.log.warn({ error }, 'requests for engines not reported')
    this.#running = repeat(() => this.#run(), { pauseMs: minPauseMs, signal: this.#stop.signal, onError })
  }

  /** Ends the reports. This process has no more requests. */
  async close(): Promise<void> {
    this.#stop.abort()
    this.#woken.resolve()
    await this.#running
    const { pool, log } = this.#deps
    await withdrawEngineDemand(pool, this.#gateway).catch((error: unknown) => {
      log.warn({ error }, 'requests for engines not withdrawn')
    })
  }

  /** Waits for a request that is held, or for the next look, and reports. */
  async #run(): Promise<void> {
    const look = new AbortController()
    const signal = AbortSignal.any([this.#stop.signal, look.signal])
    await Promise.race([this.#woken.promise, delay(everyMs - minPauseMs, undefined, { signal }).catch(() => {})])
    look.abort()
    this.#woken = Promise.withResolvers<void>()
    await this.#report()
  }

  async #report(): Promise<void> {
    const { pool, router } = this.#deps
    const { known, report } = planDemandReport(this.#known, router.takePeaks(), performance.now())
    if (report.length > 0) await reportEngineDemand(pool, this.#gateway, report)
    this.#known = known
  }
}
