import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import type { Logger } from '../../lib/log.ts'
import type { SupervisorMessage } from './messages.ts'

const endMessage: SupervisorMessage = { end: true }

/** One process of a replica, from its fork to its end. */
export class SupervisedProcess {
  readonly worker: Worker = cluster.fork()
  /** How it ended: an exit code, or a signal. */
  readonly ended = once(this.worker, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  #isListening = false

  constructor(log: Logger) {
    this.worker.once('listening', () => (this.#isListening = true))
    this.worker.on('error', (error) => log.warn({ error }, 'process not reached'))
  }

  /**
   * Tells the process to end after its responses. It first stops accepting connections. The port is closed when the
   * last process has stopped.
   *
   * The message arrives after the connections that were already sent to the process. A signal might arrive before them.
   * Node would then keep such a connection for another process, and never close it.
   */
  end(): void {
    if (!this.#isListening) return void this.worker.process.kill('SIGTERM')
    this.worker.disconnect()
    this.worker.send(endMessage, () => {})
  }

  kill(): void {
    this.worker.process.kill('SIGKILL')
  }
}
