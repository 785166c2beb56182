import { findKey, type KnownKey } from '../../db/queries/api-keys.ts'
import type { Pool } from '../../db/pool.ts'

type Answer = Promise<KnownKey | undefined>

/**
 * Looks keys up for requests. Requests with the same key that come in while it is being looked up share the next look: one
 * query at a time for each key, however many requests there are, and each request's begins after the request.
 */
export class KnownKeys {
  readonly #pool: Pool
  readonly #running = new Map<string, Answer>()
  readonly #next = new Map<string, Answer>()

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** The key with this sha256, unless it is revoked or has expired. */
  find(digest: Buffer): Answer {
    const name = digest.toString('base64')
    const running = this.#running.get(name)
    if (!running) return this.#look(name, digest)
    const next = this.#next.get(name) ?? this.#lookAfter(running, name, digest)
    this.#next.set(name, next)
    return next
  }

  async #lookAfter(running: Answer, name: string, digest: Buffer): Answer {
    await running.catch(() => {})
    this.#next.delete(name)
    // Somebody who came later may have begun it already.
    return this.#running.get(name) ?? this.#look(name, digest)
  }

  #look(name: string, digest: Buffer): Answer {
    const answer = findKey(this.#pool, digest).finally(() => this.#running.delete(name))
    this.#running.set(name, answer)
    return answer
  }
}
