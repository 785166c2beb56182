import { readFile } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'
import { createLimiter } from '../../limiter.ts'
import { Refusal, unavailable } from '../../refusal.ts'
import { checkBody, readBytes, type CheckedBody } from './check-body.ts'
import type { BodyKind } from './shapes.ts'
import type { CheckOutcome, CheckTask } from './worker.ts'

// Checked in a few milliseconds, less than a wait behind somebody's large body may take.
const inPlaceUpToBytes = 256 * 1024
const maxWorkers = 2
// 256 MiB take some three seconds on a core of their own, and a minute beside much else; nothing takes this long.
const timeoutMs = 600_000
// Both threads fit into the memory that the chart gives the process. A part of a body that takes more ends its thread,
// and nothing else.
const resourceLimits = { maxOldGenerationSizeMb: 512 }

/**
 * Checks bodies in threads of its own, which are started when they are needed and then kept, so that nobody else's request
 * waits meanwhile; small ones at once.
 */
export class BodyChecker {
  readonly #limit = createLimiter(maxWorkers)
  readonly #idle: Worker[] = []

  /** @throws {Refusal} 422 with the faults, 413 for a body that takes too much memory, 503 when there is no time for it */
  async check(file: string, size: number, kind: BodyKind): Promise<CheckedBody> {
    if (size <= inPlaceUpToBytes) return checkBody(readBytes(await readFile(file)), kind, size + 1)
    const outcome = await this.#limit(() => this.#ask({ file, kind }))
    if ('refused' in outcome) throw new Refusal(outcome.refused.status, outcome.refused.detail)
    return outcome.checked
  }

  async #ask(task: CheckTask): Promise<CheckOutcome> {
    const worker = this.#idle.pop() ?? new Worker(new URL('worker.ts', import.meta.url), { resourceLimits })
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
