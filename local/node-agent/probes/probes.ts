import { setTimeout as delay } from 'node:timers/promises'
import { runAction, type ActionTarget } from './actions.ts'
import type { Probe } from '../objects.ts'
import { ProbeTally, type Verdict } from './probe-tally.ts'

interface ProbesOptions {
  target: ActionTarget
  /** When the container started. Initial delays count from this time. */
  startedAt: Date
  /** The earlier verdicts for a container that already ran before this agent started. */
  known: { started: boolean; ready: boolean }
  /** Called when a verdict changed. */
  onChange: () => void
  /** Called for each failed try, with the message of an event. */
  onFailure: (kind: ProbeKind, message: string) => void
}

export type ProbeKind = 'Startup' | 'Liveness' | 'Readiness'

/** The probes of one run of a container. Liveness and readiness start after startup has succeeded. */
export class Probes {
  readonly #options: ProbesOptions
  readonly #stopping = new AbortController()
  started: boolean
  ready: boolean
  /** The probe whose failure requires a restart. */
  failed: { kind: ProbeKind; probe: Probe } | undefined

  constructor(options: ProbesOptions) {
    const { container } = options.target
    this.#options = options
    this.started = !container.startupProbe || options.known.started
    this.ready = this.started && (!container.readinessProbe || options.known.ready)
    void this.#run()
  }

  stop(): void {
    this.#stopping.abort()
    this.ready = false
  }

  async #run(): Promise<void> {
    const { startupProbe, livenessProbe, readinessProbe } = this.#options.target.container
    if (startupProbe && !this.started) {
      const passed = await this.#repeat('Startup', startupProbe, (verdict) => verdict === 'unknown')
      if (!passed) return
      this.started = true
      this.ready = !readinessProbe
      this.#options.onChange()
    }
    if (livenessProbe) void this.#repeat('Liveness', livenessProbe, (verdict) => verdict !== 'failure')
    if (readinessProbe) void this.#repeat('Readiness', readinessProbe, () => true)
  }

  /** Repeats a probe while `goOn` returns true. Returns whether the last verdict was success. */
  async #repeat(kind: ProbeKind, probe: Probe, goOn: (verdict: Verdict) => boolean): Promise<boolean> {
    const tally = new ProbeTally(probe)
    const runsForMs = Date.now() - this.#options.startedAt.getTime()
    await this.#pause((probe.initialDelaySeconds ?? 0) * 1000 - runsForMs)
    while (!this.#stopping.signal.aborted) {
      const before = tally.verdict
      tally.add(await this.#tryOnce(kind, probe))
      if (this.#stopping.signal.aborted) return false
      if (tally.verdict !== before) this.#apply(kind, probe, tally.verdict)
      if (!goOn(tally.verdict)) return tally.verdict === 'success'
      await this.#pause((probe.periodSeconds ?? 10) * 1000)
    }
    return false
  }

  async #tryOnce(kind: ProbeKind, probe: Probe): Promise<boolean> {
    try {
      await runAction(probe, this.#options.target, (probe.timeoutSeconds ?? 1) * 1000)
      return true
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      if (!this.#stopping.signal.aborted) this.#options.onFailure(kind, message)
      return false
    }
  }

  #apply(kind: ProbeKind, probe: Probe, verdict: Verdict): void {
    if (kind === 'Readiness') this.ready = verdict === 'success'
    else if (verdict === 'failure') this.failed = { kind, probe }
    this.#options.onChange()
  }

  async #pause(ms: number): Promise<void> {
    if (ms > 0) await delay(ms, undefined, { signal: this.#stopping.signal }).catch(() => undefined)
  }
}
