import { Worker, type ResourceLimits, type TransferListItem } from 'node:worker_threads'
import { FairSemaphore, type PermitRequest } from '../../lib/fair-semaphore.ts'

// What users wrote runs here or is read here: nothing of the process is to be found.
const nothing = { env: {}, argv: [], execArgv: [] }
// A thread's answer before any work: it takes a while to start.
const startTimeoutMs = 30_000

/** Threads of one program, which posts one outcome for each task. */
export interface ThreadPlan {
  program: URL
  threads: number
  /** Fewer than all leave one to others while an entity's tasks take long. */
  threadsOfEntity: number
  resourceLimits: ResourceLimits
  /** One that takes no time. */
  startTask: unknown
}

/** A task, how long it may take, and what of it moves to the thread instead of being copied. */
export interface ThreadTask<Task> {
  task: Task
  timeoutMs: number
  transfer?: TransferListItem[]
}

/** Does tasks in threads, which are started when they are needed and then kept, so that nobody's request waits meanwhile. */
export class ThreadPool {
  readonly #turns: FairSemaphore
  readonly #idle: Worker[] = []
  readonly #plan: ThreadPlan

  constructor(plan: ThreadPlan) {
    this.#plan = plan
    this.#turns = new FairSemaphore({ permits: plan.threads, permitsPerKey: plan.threadsOfEntity })
  }

  /** Undefined for a task that takes more time or memory than a thread has. @throws {Error} what the program throws */
  ask<Task, Outcome>(given: ThreadTask<Task>, turn: PermitRequest): Promise<Outcome | undefined> {
    return this.#turns.run(turn, async () => {
      const worker = this.#idle.pop() ?? (await this.#start())
      worker.ref()
      const outcome = await ask<Task, Outcome>(worker, given)
      if (outcome === undefined) return undefined
      // A thread without work keeps no process alive.
      worker.unref()
      this.#idle.push(worker)
      return outcome
    })
  }

  async #start(): Promise<Worker> {
    const { program, resourceLimits, startTask } = this.#plan
    const worker = new Worker(program, { resourceLimits, ...nothing })
    if ((await ask(worker, { task: startTask, timeoutMs: startTimeoutMs })) !== undefined) return worker
    throw new Error('a thread has not started in time')
  }
}

/** A thread that has not answered is ended. */
async function ask<Task, Outcome>(
  worker: Worker,
  { task, timeoutMs, transfer = [] }: ThreadTask<Task>,
): Promise<Outcome | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<Outcome | undefined>()
  const giveUp = () => resolve(undefined)
  const fail = (error: Error & { code?: string }) =>
    error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? giveUp() : reject(error)
  const timer = setTimeout(giveUp, timeoutMs)
  worker.once('message', resolve).once('error', fail).once('exit', giveUp)
  worker.postMessage(task, transfer)
  const outcome = await promise.finally(() => {
    clearTimeout(timer)
    worker.off('message', resolve).off('error', fail).off('exit', giveUp)
  })
  if (outcome === undefined) await worker.terminate()
  return outcome
}
