import cluster from 'node:cluster'
import { setTimeout as delay } from 'node:timers/promises'
import { backoffMs, type Backoff } from '../../lib/backoff.ts'
import { createLogger, type Logger } from '../../lib/log.ts'
import { startMetricsServer } from '../../lib/metrics/metrics-server.ts'
import { onShutdown } from '../../lib/shutdown.ts'
import { closeMs, type ProcessConfig } from './config.ts'
import { heapArguments } from './heap.ts'
import { watchLiveness } from './liveness.ts'
import { MetricsOfProcesses } from './metrics-of-processes.ts'
import { sharePermits } from './share-permits.ts'
import { SupervisedProcess } from './supervised-process.ts'

const restart: Backoff = { baseMs: 250, maxMs: 10_000 }
// If a process ran this long, its end was not a failed start.
const healthyAfterMs = 60_000
// If a process takes too long to end, it ends itself first, with a log message.
const marginMs = 1_000

/**
 * Runs the processes of a replica, and restarts each one that ends. They share a port: the supervisor accepts
 * connections and gives them to the processes in turn.
 */
export function superviseProcesses(config: ProcessConfig): void {
  const log = createLogger('apiserver-supervisor', config.LOG_LEVEL)
  const count = config.TRAINYARD_PROCESSES
  cluster.schedulingPolicy = cluster.SCHED_RR
  cluster.setupPrimary({ execArgv: [...process.execArgv, ...heapArguments(count)] })
  const supervisor = new Supervisor(log)
  const running = Array.from({ length: count }, () => supervisor.keepRunning())
  const timeoutMs = config.TRAINYARD_DRAIN_SECONDS * 1_000 + closeMs + marginMs
  startMetricsServer(config, () => supervisor.metrics.read(), log).catch((error: unknown) => {
    log.fatal({ error }, 'metrics cannot be served')
    process.exit(1)
  })
  onShutdown(log, () => supervisor.end(running, timeoutMs), timeoutMs + marginMs)
}

class Supervisor {
  readonly #log: Logger
  readonly metrics = new MetricsOfProcesses()
  readonly #givePermits = sharePermits()
  readonly #processes = new Set<SupervisedProcess>()
  readonly #stop = new AbortController()
  #hasListened = false

  constructor(log: Logger) {
    this.#log = log
  }

  /**
   * Restarts a process whenever it ends, until all processes have to end. @returns whether the last one ended normally
   */
  async keepRunning(): Promise<boolean> {
    const { signal: stop } = this.#stop
    for (let failures = 0; !stop.aborted;) {
      const startedMs = performance.now()
      const { pid, code, signal } = await this.#run()
      if (stop.aborted) return code === 0 || signal === 'SIGTERM'
      if (!this.#hasListened) this.#giveUp(pid)
      failures = performance.now() - startedMs > healthyAfterMs ? 1 : failures + 1
      const pauseMs = backoffMs(failures, restart)
      this.#log.error({ processId: pid, code, signal, pauseMs }, 'process ended')
      await delay(pauseMs, undefined, { signal: stop }).catch(() => {})
    }
    return true
  }

  /** Ends all processes. @throws if one does not end in time, or fails while it ends */
  async end(running: readonly Promise<boolean>[], timeoutMs: number): Promise<void> {
    this.#stop.abort()
    for (const each of this.#processes) each.end()
    const killing = setTimeout(() => {
      for (const each of this.#processes) each.kill()
    }, timeoutMs)
    const outcomes = await Promise.all(running)
    clearTimeout(killing)
    if (outcomes.includes(false)) throw new Error('a process did not end in time, or failed as it ended')
  }

  /**
   * If a process ends before any process listens, no process can start: the environment is wrong, or the port is in
   * use.
   */
  #giveUp(pid: number | undefined): never {
    this.#log.fatal({ processId: pid }, 'a process ended before any listened')
    process.exit(1)
  }

  async #run() {
    const started = new SupervisedProcess(this.#log)
    this.#processes.add(started)
    this.#givePermits(started.worker)
    this.metrics.follow(started.worker)
    started.worker.once('listening', () => {
      this.#hasListened = true
      watchLiveness(started.worker.process, this.#log)
    })
    const [code, signal] = await started.ended
    this.#processes.delete(started)
    return { pid: started.worker.process.pid, code, signal }
  }
}
