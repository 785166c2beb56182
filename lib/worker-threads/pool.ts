import { Worker, type ResourceLimits, type TransferListItem } from 'node:worker_threads'
import { FairSemaphore, type PermitRequest } from '../fair-semaphore.ts'
import type { ThreadMessage } from './program.ts'

const program = new URL('program.ts', import.meta.url)
// Threads read and run what users wrote. They can find nothing of the process.
const nothing = { env: {}, argv: [], execArgv: [] }
// To start a thread and to load a module takes a while on a busy machine. A task's own time begins after it.
const loadTimeoutMs = 30_000

/** How many threads a pool has, and what each may use. */
export interface PoolOptions {
  threads: number
  /** how many of them one key may use at a time: fewer than all leave one to others while its tasks take long */
  threadsPerKey: number
  resourceLimits: ResourceLimits
}

/** A task for a module whose default export is a `ThreadFunction`. */
export interface ThreadTask<Task> {
  module: URL
  task: Task
  timeoutMs: number
  /** the parts of the task that are moved to the thread instead of being copied */
  transfer?: TransferListItem[]
}

/**
 * Runs tasks in worker threads, so that the event loop goes on meanwhile. Threads are started when they are needed and kept
 * then; a thread without work keeps no process alive.
 */
export class WorkerPool {
  readonly #permits: FairSemaphore
  readonly #idle: Worker[] = []
  readonly #resourceLimits: ResourceLimits
  /** the modules that a thread has loaded */
  readonly #modules = new WeakMap<Worker, Set<string>>()

  constructor({ threads, threadsPerKey, resourceLimits }: PoolOptions) {
    this.#resourceLimits = resourceLimits
    this.#permits = new FairSemaphore({ permits: threads, permitsPerKey: threadsPerKey })
  }

  /** Undefined when the task takes more time or memory than a thread has. @throws {Error} what the module throws */
  run<Task, Outcome>(given: ThreadTask<Task>, request: PermitRequest): Promise<Outcome | undefined> {
    return this.#permits.run(request, async () => {
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

/** Undefined when the thread does not answer in time or has no memory left; then the thread is ended. */
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
