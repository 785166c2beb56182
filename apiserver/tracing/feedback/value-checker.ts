import { Worker } from 'node:worker_threads'
import { createLimiter } from '../../limiter.ts'
import type { CheckOutcome, CheckTask } from './check-value.ts'

// Schemas are people's own: patterns that never end, references in circles. A thread of its own can be ended.
const maxWorkers = 2
const resourceLimits = { maxOldGenerationSizeMb: 128, stackSizeMb: 4 }
// People's schemas have some hundred characters, and take a millisecond. The rest of the time is for a machine that is busy.
const usualTimeoutMs = 1_000
const longestSchema = 64 * 1024
// An answer of the thread's before any work: it takes a while to start.
const startTimeoutMs = 30_000
const startTask: CheckTask = { schema: '{}', value: 'null' }

/** Checks values by schemas that anybody may have written, in threads that are started when they are needed. */
export class ValueChecker {
  readonly #limit = createLimiter(maxWorkers)
  readonly #idle: Worker[] = []
  readonly #timeoutMs: number

  constructor(timeoutMs = usualTimeoutMs) {
    this.#timeoutMs = timeoutMs
  }

  /** A schema that takes too much time or memory, or is longer than 64 KiB, is a bad one. */
  async check(task: CheckTask): Promise<CheckOutcome> {
    if (task.schema.length > longestSchema) return 'bad schema'
    return this.#limit(async () => {
      const worker = this.#idle.pop() ?? (await startWorker())
      worker.ref()
      const outcome = await waitForOutcome(worker, task, this.#timeoutMs)
      if (outcome === undefined) {
        await worker.terminate()
        return 'bad schema'
      }
      // A thread without work keeps no process alive.
      worker.unref()
      this.#idle.push(worker)
      return outcome
    })
  }
}

async function startWorker(): Promise<Worker> {
  const worker = new Worker(new URL('value-worker.ts', import.meta.url), { resourceLimits })
  const outcome = await waitForOutcome(worker, startTask, startTimeoutMs)
  if (outcome !== undefined) return worker
  await worker.terminate()
  throw new Error('starting a thread that checks values')
}

/** Undefined when the thread has ended, or has not answered in time. */
async function waitForOutcome(worker: Worker, task: CheckTask, timeoutMs: number): Promise<CheckOutcome | undefined> {
  const { promise, resolve } = Promise.withResolvers<CheckOutcome | undefined>()
  const giveUp = () => resolve(undefined)
  const timer = setTimeout(giveUp, timeoutMs)
  worker.once('message', resolve).once('error', giveUp).once('exit', giveUp)
  const noTransfer: [] = []
  worker.postMessage(task, noTransfer)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    worker.off('message', resolve).off('error', giveUp).off('exit', giveUp)
  }
}
