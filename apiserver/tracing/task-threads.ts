import { Worker, type ResourceLimits } from 'node:worker_threads'
import { FairSemaphore, type PermitRequest } from '../../lib/fair-semaphore.ts'

const maxThreads = 2
// So that an entity whose tasks take long leaves a thread to the others.
const maxThreadsOfEntity = 1
// What users wrote runs here or is read here: nothing of the process is to be found.
const nothing = { env: {}, argv: [], execArgv: [] }
// A thread's answer before any work: it takes a while to start.
const startTimeoutMs = 30_000

/** What runs in the threads, and within which bounds. */
export interface ThreadPlan<Task> {
  /** Of a program that posts one outcome for each task. */
  program: URL
  resourceLimits: ResourceLimits
  timeoutMs: number
  /** One that takes no time. */
  startTask: Task
}

/** Does tasks in threads, which are started when they are needed and then kept, so that nobody's request waits meanwhile. */
export class TaskThreads<Task, Outcome> {
  readonly #turns = new FairSemaphore({ permits: maxThreads, permitsPerKey: maxThreadsOfEntity })
  readonly #idle: Worker[] = []
  readonly #plan: ThreadPlan<Task>

  constructor(plan: ThreadPlan<Task>) {
    this.#plan = plan
  }

  /** Undefined for a task that takes more time or memory than a thread has. @throws {Error} what the program throws */
  ask(task: Task, turn: PermitRequest): Promise<Outcome | undefined> {
    return this.#turns.run(turn, async () => {
      const worker = this.#idle.pop() ?? (await this.#start())
      worker.ref()
      const outcome = await ask<Task, Outcome>(worker, task, this.#plan.timeoutMs)
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
    if ((await ask(worker, startTask, startTimeoutMs)) !== undefined) return worker
    throw new Error('a thread has not started in time')
  }
}

/** A thread that has not answered is ended. */
async function ask<Task, Outcome>(worker: Worker, task: Task, timeoutMs: number): Promise<Outcome | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<Outcome | undefined>()
  const giveUp = () => resolve(undefined)
  const fail = (error: Error & { code?: string }) =>
    error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? giveUp() : reject(error)
  const timer = setTimeout(giveUp, timeoutMs)
  worker.once('message', resolve).once('error', fail).once('exit', giveUp)
  const noTransfer: [] = []
  worker.postMessage(task, noTransfer)
  const outcome = await promise.finally(() => {
    clearTimeout(timer)
    worker.off('message', resolve).off('error', fail).off('exit', giveUp)
  })
  if (outcome === undefined) await worker.terminate()
  return outcome
}
