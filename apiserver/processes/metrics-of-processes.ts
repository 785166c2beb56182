import type { Worker } from 'node:cluster'
import { setTimeout as delay } from 'node:timers/promises'
import { AggregatorRegistry } from 'prom-client'
import { isProcessMessage, type ProcessMetrics, type SupervisorMessage } from './messages.ts'

// Less than Prometheus' time limit of ten seconds.
const answerMs = 2_000
const question: SupervisorMessage = { readMetrics: true }
// The counts of an ended process stay in the sums, because Prometheus takes a smaller sum for a restart.
const keptTypes: ReadonlySet<unknown> = new Set(['counter', 'histogram'])

interface Followed {
  worker: Worker
  latest: ProcessMetrics
  /** Called when the process has answered. */
  onAnswer: () => void
}

/** The metrics of a replica: the sums over its processes. */
export class MetricsOfProcesses {
  readonly #followed = new Map<number, Followed>()
  #ended: Promise<ProcessMetrics> = Promise.resolve([])

  follow(worker: Worker): void {
    const followed: Followed = { worker, latest: [], onAnswer: () => {} }
    this.#followed.set(worker.id, followed)
    worker.on('message', (message: unknown) => {
      if (!isProcessMessage(message) || !('metrics' in message)) return
      followed.latest = message.metrics
      followed.onAnswer()
    })
    worker.once('exit', () => {
      this.#followed.delete(worker.id)
      followed.onAnswer()
      this.#ended = this.#keepCounts(this.#ended, followed.latest)
    })
  }

  /** Asks all processes. Of one that does not answer in time, the last answer counts. */
  async read(): Promise<string> {
    const followed = [...this.#followed.values()]
    await Promise.all(followed.map(ask))
    const running = followed.filter(({ worker }) => this.#followed.has(worker.id)).map(({ latest }) => latest)
    return AggregatorRegistry.aggregate([await this.#ended, ...running]).metrics()
  }

  async #keepCounts(earlier: Promise<ProcessMetrics>, latest: ProcessMetrics): Promise<ProcessMetrics> {
    const counts = latest.filter((metric) => 'type' in metric && keptTypes.has(metric.type))
    return AggregatorRegistry.aggregate([await earlier, counts]).getMetricsAsJSON()
  }
}

async function ask(followed: Followed): Promise<void> {
  const late = new AbortController()
  const answered = new Promise<void>((resolve) => (followed.onAnswer = resolve))
  followed.worker.send(question, () => {})
  await Promise.race([answered, delay(answerMs, undefined, { signal: late.signal })]).catch(() => {})
  late.abort()
}
