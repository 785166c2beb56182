import { HttpError } from '../../lib/http/http-error.ts'
import type { Logger } from '../../lib/log.ts'
import { errors } from './table.ts'

const sentences = {
  body: 'The trajectories could not be stored, because the artifact store does not accept writes. Send them again later.',
  checkpoint:
    'The checkpoint could not be stored, because the artifact store does not accept writes. Send it again later.',
  upload: 'The upload could not be stored, because the artifact store does not accept writes. Send it again later.',
}

/**
 * Runs a write to the artifact store.
 *
 * @throws {HttpError} an HttpError of `write`, and 503 for any other error
 */
export async function writeToStore<T>(log: Logger, what: keyof typeof sentences, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (error instanceof HttpError) throw error
    log.error({ error }, `${what} not stored`)
    throw new HttpError(errors.store_unavailable, sentences[what], { retryAfterSeconds: 10 })
  }
}
