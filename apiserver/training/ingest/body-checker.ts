import { HttpError } from '../../../lib/http/http-error.ts'
import { errors, findError } from '../../errors/table.ts'
import { readFile } from 'node:fs/promises'
import type { WorkerPool } from '../../../lib/worker-threads/pool.ts'
import { openSmallThread } from '../../accounts/limits/heavy-threads.ts'
import { checkBody, readBytes, type CheckedBody } from './check-body.ts'
import { checkDataSet } from './check-data-set.ts'
import type { CheckOutcome, CheckTask } from './check-worker.ts'
import type { BodyReading } from './read-body.ts'
import type { BodyKind } from './shapes.ts'

const module = new URL('check-worker.ts', import.meta.url)
// Checked in a few milliseconds. Waiting behind a large body could take longer.
const maxMainThreadBytes = 256 * 1024
// Checked in a fraction of a second. They do not wait for bodies that take many seconds.
const smallUpToBytes = 4 * 1024 * 1024
// 256 MiB take about three seconds on an idle core, and a minute on a busy one. No body takes this long.
const timeoutMs = 600_000

/** A body in a file. */
export interface BodyToCheck<Kind extends BodyKind = BodyKind> extends BodyReading<Kind> {
  file: string
  size: number
}

/**
 * Checks bodies in threads, so that no other request waits meanwhile. Small ones are checked at once. Entities take
 * turns, and small bodies have their own thread.
 */
export class BodyChecker {
  readonly #large: WorkerPool
  readonly #small = openSmallThread()

  constructor(heavy: WorkerPool) {
    this.#large = heavy
  }

  /** @throws {HttpError} 422 with the issues, 413 for a body that needs too much memory or time */
  async check<Kind extends BodyKind>({ file, size, ...reading }: BodyToCheck<Kind>): Promise<CheckedBody<Kind>> {
    if (size <= maxMainThreadBytes) return checkBody(readBytes(await readFile(file)), reading, size + 1)
    return (await this.#ask<Kind>({ file, ...reading }, size))!
  }

  /** Checks a file of SFT data. `path` is its name in messages. @throws {HttpError} as `check` does */
  async checkSft({ file, size, path }: Omit<BodyToCheck, keyof BodyReading> & { path: string }): Promise<void> {
    if (size <= maxMainThreadBytes) checkDataSet(readBytes(await readFile(file)), path)
    else await this.#ask({ file, kind: 'sft', path }, size)
  }

  async #ask<Kind extends BodyKind>(task: CheckTask, size: number): Promise<CheckedBody<Kind> | undefined> {
    const threads = size <= smallUpToBytes ? this.#small : this.#large
    const outcome = await threads.run<CheckTask, CheckOutcome<Kind>>({ module, task, timeoutMs })
    // The thread has ended; the process continues.
    if (!outcome)
      throw new HttpError(
        errors.body_too_large,
        'Validating the body needs too much memory or time. Send fewer trajectories in one request.',
      )
    if ('error' in outcome) throw new HttpError(findError(outcome.error.code), outcome.error.detail)
    return outcome.checked
  }
}
