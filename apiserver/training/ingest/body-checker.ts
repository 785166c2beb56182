import { readFile } from 'node:fs/promises'
import { Worker, type ResourceLimits } from 'node:worker_threads'
import { FairSemaphore } from '../../../lib/fair-semaphore.ts'
import type { Turn } from '../../limits/turn.ts'
import { Refusal, unavailable } from '../../refusal.ts'
import { checkBody, readBytes, type CheckedBody } from './check-body.ts'
import { checkDataSet } from './check-data-set.ts'
import type { BodyKind } from './shapes.ts'
import type { CheckOutcome, CheckTask } from './worker.ts'

// Checked in a few milliseconds, less than a wait behind somebody's large body may take.
const inPlaceUpToBytes = 256 * 1024
// Checked in a fraction of a second: they do not wait for what takes many.
const smallUpToBytes = 4 * 1024 * 1024
// 256 MiB take some three seconds on a core of their own, and a minute beside much else; nothing takes this long.
const timeoutMs = 600_000
// A part of a body that takes more ends its thread, and nothing else. An entity has one thread for its large bodies at a time: others find the other one.
const [large, small] = [
  { threads: 2, threadsOfEntity: 1, maxOldGenerationSizeMb: 512 },
  { threads: 1, threadsOfEntity: 1, maxOldGenerationSizeMb: 256 },
]

/** A body in a file, and whose turn its check is. */
export interface BodyToCheck {
  file: string
  size: number
  kind: BodyKind
  turn: Turn
}

/**
 * Checks bodies in threads of its own, so that nobody else's request waits meanwhile; small ones at once. Entities take
 * turns, and small bodies have a thread of their own.
 */
export class BodyChecker {
  readonly #large = new Lane(large)
  readonly #small = new Lane(small)

  /** @throws {Refusal} 422 with the faults, 413 for a body that takes too much memory, 503 when there is no time for it */
  async check({ file, size, kind, turn }: BodyToCheck): Promise<CheckedBody> {
    if (size <= inPlaceUpToBytes) return checkBody(readBytes(await readFile(file)), kind, size + 1)
    return (await this.#ask({ file, kind }, { size, turn }))!
  }

  /** Checks a file of SFT data; `path` is its name for people. @throws {Refusal} as `check` does */
  async checkSft({ file, size, path, turn }: Omit<BodyToCheck, 'kind'> & { path: string }): Promise<void> {
    if (size <= inPlaceUpToBytes) checkDataSet(readBytes(await readFile(file)), path)
    else await this.#ask({ file, kind: 'sft', path }, { size, turn })
  }

  async #ask(task: CheckTask, { size, turn }: Pick<BodyToCheck, 'size' | 'turn'>): Promise<CheckedBody | undefined> {
    const lane = size <= smallUpToBytes ? this.#small : this.#large
    const outcome = await lane.ask(task, turn)
    if ('refused' in outcome) throw new Refusal(outcome.refused.status, outcome.refused.detail)
    return outcome.checked
  }
}

/** Threads, which are started when they are needed and then kept. */
class Lane {
  readonly #turns: FairSemaphore
  readonly #idle: Worker[] = []
  readonly #resourceLimits: ResourceLimits

  constructor({ threads, threadsOfEntity, maxOldGenerationSizeMb }: typeof large) {
    this.#turns = new FairSemaphore({ permits: threads, permitsPerKey: threadsOfEntity })
    this.#resourceLimits = { maxOldGenerationSizeMb }
  }

  ask(task: CheckTask, turn: Turn): Promise<CheckOutcome> {
    return this.#turns.run(turn, () => this.#askThread(task))
  }

  async #askThread(task: CheckTask): Promise<CheckOutcome> {
    const worker = this.#idle.pop() ?? this.#start()
    // A thread without work keeps no process alive.
    worker.ref()
    try {
      const outcome = await waitForOutcome(worker, task)
      worker.unref()
      this.#idle.push(worker)
      return outcome
    } catch (error) {
      await worker.terminate()
      throw error
    }
  }

  #start(): Worker {
    return new Worker(new URL('worker.ts', import.meta.url), {
      resourceLimits: this.#resourceLimits,
      // Nothing of the process is to be found by what users wrote.
      env: {},
      argv: [],
      execArgv: [],
    })
  }
}

async function waitForOutcome(worker: Worker, task: CheckTask): Promise<CheckOutcome> {
  const { promise, resolve, reject } = Promise.withResolvers<CheckOutcome>()
  const refuse = () => reject(new Refusal(413, 'The body has too many parts to be taken in.'))
  const fail = (error: Error & { code?: string }) =>
    error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? refuse() : reject(error)
  const timer = setTimeout(() => reject(unavailable('The body could not be checked in time.', 60)), timeoutMs)
  worker.once('message', resolve).once('error', fail).once('exit', refuse)
  const noTransfer: [] = []
  worker.postMessage(task, noTransfer)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    worker.off('message', resolve).off('error', fail).off('exit', refuse)
  }
}
