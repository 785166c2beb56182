import { randomUUID } from 'node:crypto'
import { reportEngineDemand, withdrawEngineDemand, type Gateway } from '../../../db/demand/engine-demand.ts'
import type { Pool } from '../../../db/pool.ts'
import type { Logger } from '../../../lib/log.ts'
import { WakeableRepeat } from '../../../lib/wakeable-repeat.ts'
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
  readonly #reports: WakeableRepeat
  #known = new Map<string, ReportedDemand>()

  constructor(deps: Deps) {
    this.#deps = deps
    this.#gateway = { process: randomUUID(), namespace: deps.namespace }
    const onError = (error: unknown) => deps.log.warn({ error }, 'requests for engines not reported')
    this.#reports = new WakeableRepeat(() => this.#report(), { everyMs, minPauseMs, onError })
    deps.router.onHeld(() => this.#reports.wake())
  }

  /** Ends the reports. This process has no more requests. */
  async close(): Promise<void> {
    await this.#reports.close()
    const { pool, log } = this.#deps
    await withdrawEngineDemand(pool, this.#gateway).catch((error: unknown) => {
      log.warn({ error }, 'requests for engines not withdrawn')
    })
  }

  async #report(): Promise<void> {
    const { pool, router } = this.#deps
    const { known, report } = planDemandReport(this.#known, router.takePeaks(), performance.now())
    if (report.length > 0) await reportEngineDemand(pool, this.#gateway, report)
    this.#known = known
  }
}
