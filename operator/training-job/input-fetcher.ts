import { reasons } from '../../crds/names.ts'
import { failJob } from '../../db/jobs/endings.ts'
import type { JobFailure } from '../../db/jobs/attempts.ts'
import { countInputTry, findOpenInput, recordInputError, settleInput } from '../../db/jobs/inputs.ts'
import { isDatabaseUnavailable } from '../../db/unavailable.ts'
import { InputError } from '../../artifacts/inputs/address.ts'
import { whileHoldingInput } from '../../artifacts/inputs/hold.ts'
import { ResponseError } from '../../lib/outbound/errors.ts'
import { obtainInput, type FetchDeps } from '../../artifacts/inputs/fetch.ts'
import { FairSemaphore } from '../../lib/fair-semaphore.ts'
import type { Logger } from '../../lib/log.ts'

// With the queue's delays, these take about seven minutes.
const maxTries = 12
// A foreign server may take ten minutes for each response.
const permits = 16
const permitsPerKey = 2
// Jobs whose input is open may be many.
const lookupsAtOnce = 4

interface Deps extends FetchDeps {
  log: Logger
}

/**
 * Fetches the inputs of jobs into the store. Reconciliations do not wait for it, because foreign servers may be slow. A
 * job is queued only when its row names a file of the store. A process that is killed between two steps repeats them.
 */
export class InputFetcher {
  readonly #deps: Deps
  readonly #stopping = new AbortController()
  readonly #lookups = new FairSemaphore({ permits: lookupsAtOnce })
  /** Entities take turns. */
  readonly #turns = new FairSemaphore({ permits, permitsPerKey })

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Aborts running fetches. The next operator repeats them. */
  stop(): void {
    this.#stopping.abort()
  }

  /** Fetches the input of one job, or fails the job permanently. @throws if another try may help */
  async fetch(jobId: string): Promise<void> {
    const { signal } = this.#stopping
    const found = await this.#lookups.run({ key: '', signal }, () => findOpenInput(this.#deps.pool, jobId))
    if (found) await this.#turns.run({ key: found.entity, signal }, () => this.#fetchInTurn(jobId))
  }

  async #fetchInTurn(jobId: string): Promise<void> {
    const { pool, log } = this.#deps
    // The job may have ended while it waited for its turn.
    const open = await findOpenInput(pool, jobId)
    if (!open) return
    const tries = await countInputTry(pool, jobId)
    try {
      const input = await obtainInput(this.#deps, open, this.#stopping.signal)
      await whileHoldingInput(this.#deps, input.uri, () => settleInput(pool, jobId, input))
      log.info({ job: jobId, tries, ...input }, 'input of a job is in the store')
    } catch (error) {
      await this.#handleError(jobId, tries, error)
    }
  }

  async #handleError(jobId: string, tries: number, error: unknown): Promise<void> {
    const { pool, log } = this.#deps
    if (this.#stopping.signal.aborted || isDatabaseUnavailable(error)) throw error
    const failure = describeFailure(error)
    if (failure.retryable && tries < maxTries) {
      await recordInputError(pool, jobId, failure.message)
      throw error
    }
    log.info({ job: jobId, tries, error }, 'a job has no input')
    const tried = failure.retryable ? ` (tried ${tries} times)` : ''
    await failJob(pool, jobId, { ...failure, message: `The training data cannot be used: ${failure.message}${tried}` })
  }
}

/**
 * The messages of these two errors are for users: they contain no queries, user names or other secrets of an address.
 */
function describeFailure(error: unknown): JobFailure {
  if (error instanceof InputError) {
    return { category: 'User', reason: error.reason, message: error.message, retryable: false }
  }
  if (error instanceof ResponseError) {
    return { category: 'Internal', reason: reasons.inputUnreachable, message: error.message, retryable: true }
  }
  const message = 'they could not be stored in the artifact store'
  return { category: 'Internal', reason: reasons.inputNotStored, message, retryable: true }
}
