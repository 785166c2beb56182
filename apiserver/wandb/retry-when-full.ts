import { HttpError } from '../../lib/http/http-error.ts'
import { LimitError } from '../accounts/limits/limit-error.ts'
import { errors, limitErrors } from '../errors/table.ts'

/**
 * Stores something of a run. If its entity is full, the error is one that SDKs send again after: after a 403 they drop
 * the lines and files of a run, and say nothing. There is no Retry-After, because their own waits grow from two seconds
 * to a minute, and they send lines for a week.
 *
 * @throws {HttpError} 429 instead of 403
 */
export async function retryWhenFull<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof HttpError) || error.code !== errors.quota_exceeded.code) throw error
    throw new LimitError('stored_bytes', error.message, { error: limitErrors.run_storage_full, cause: error })
  }
}
