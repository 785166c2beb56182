import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import type { Logger } from '../../lib/log.ts'
import type { SupervisorMessage } from './messages.ts'

const endMessage: SupervisorMessage = { end: true }

/** One process of a replica, from its fork to its end. */
export class SupervisedProcess {
  readonly worker: Worker = cluster.fork()
  /** With what it ended: an exit code, or a signal. */
  readonly ended = once(this.worker, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  #isListening = false

  constructor(log: Logger) {
    this.worker.once('listening', () => (this.#isListening = true))
    this.worker.on('error', (error) => log.warn({ error }, 'process not reached'))
  }

  /**
   * Has it end after its responses. It first takes no more connections, and the port is closed with the last process that
   * takes some. The message comes after the connections that are on their way to it. A signal might come before: Node would
   * keep such a connection for another process, and never close it.
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
