import { Worker, type ResourceLimits, type TransferListItem } from 'node:worker_threads'
import { FairSemaphore } from '../fair-semaphore.ts'
import { currentTurn } from '../request-scope.ts'
import type { ThreadMessage } from './program.ts'

const program = new URL('program.ts', import.meta.url)
// Threads read and run what users wrote. Nothing of the process is visible to them.
const nothing = { env: {}, argv: [], execArgv: [] }
// Starting a thread and loading a module takes a while on a busy machine. A task's own time begins after that.
const loadTimeoutMs = 30_000

/** The number of threads of a pool, and the limits of each. */
export interface PoolOptions {
  threads: number
  /**
   * The most threads of one key. If it is below `threads`, others still get a thread while the key's tasks take long.
   */
  threadsPerKey: number
  resourceLimits: ResourceLimits
}

/** A task for a module whose default export is a `ThreadFunction`. */
export interface ThreadTask<Task> {
  module: URL
  task: Task
  timeoutMs: number
  /** Parts of the task that are moved to the thread instead of copied. */
  transfer?: TransferListItem[]
}

/**
 * Runs tasks in worker threads, so that the event loop stays free. Threads are started on demand and then kept. An idle
 * thread does not keep the process alive.
 */
export class WorkerPool {
  readonly #permits: FairSemaphore
  readonly #idle: Worker[] = []
  readonly #resourceLimits: ResourceLimits
  /** The modules that a thread has loaded. */
  readonly #modules = new WeakMap<Worker, Set<string>>()

  constructor({ threads, threadsPerKey, resourceLimits }: PoolOptions) {
    this.#resourceLimits = resourceLimits
    this.#permits = new FairSemaphore({ permits: threads, permitsPerKey: threadsPerKey })
  }

  /**
   * Runs a task when it is the turn of the running request's entity. Returns undefined if the task needs more time or memory than a thread has. @throws {Error} what the module throws
   */
  run<Task, Outcome>(given: ThreadTask<Task>): Promise<Outcome | undefined> {
    return this.#permits.run(currentTurn(), async () => {
      const worker = this.#idle.pop() ?? new Worker(program, { resourceLimits: this.#resourceLimits, ...nothing })
      worker.ref()
      await this.#load(worker, given.module.href)
      const { module, task, timeoutMs, transfer = [] } = given
      const outcome = await ask<Outcome>(worker, { module: module.href, task }, { timeoutMs, transfer })
      if (outcome === undefined) return undefined
      worker.unref()
      this.#idle.push(worker)
      return outcome
    })
  }

  async #load(worker: Worker, module: string): Promise<void> {
    const modules = this.#modules.get(worker) ?? new Set()
    if (modules.has(module)) return
    const answer = await ask(worker, { module }, { timeoutMs: loadTimeoutMs, transfer: [] })
    if (answer === undefined) throw new Error('a worker thread has not started in time')
    this.#modules.set(worker, modules.add(module))
  }
}

/** Returns undefined if the thread does not answer in time or runs out of memory. Then the thread is ended. */
async function ask<Outcome>(
  worker: Worker,
  message: ThreadMessage,
  { timeoutMs, transfer }: { timeoutMs: number; transfer: TransferListItem[] },
): Promise<Outcome | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<Outcome | undefined>()
  const giveUp = () => resolve(undefined)
  const fail = (error: Error & { code?: string }) =>
    error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? giveUp() : reject(error)
  const timer = setTimeout(giveUp, timeoutMs)
  worker.once('message', resolve).once('error', fail).once('exit', giveUp)
  worker.postMessage(message, transfer)
  const outcome = await promise.finally(() => {
    clearTimeout(timer)
    worker.off('message', resolve).off('error', fail).off('exit', giveUp)
  })
  if (outcome === undefined) await worker.terminate()
  return outcome
}
