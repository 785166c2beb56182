import type { ServerResponse } from 'node:http'
import { listEndedKeys } from '../../../db/queries/api-keys.ts'
import type { Pool } from '../../../db/pool.ts'

/** Answers that take long, by their key: they end when that is revoked or expires, like every later request of it. */
export class OpenAnswers {
  readonly #pool: Pool
  /** A key without any has no entry. */
  readonly #open = new Map<string, Set<AbortController>>()

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** A signal that tells, until the answer is out, that its key may no longer be used. */
  follow(keyId: string, response: ServerResponse): AbortSignal {
    const ended = new AbortController()
    // Nobody would ever say that it is out.
    if (response.closed) return ended.signal
    const answers = this.#open.get(keyId) ?? new Set()
    this.#open.set(keyId, answers.add(ended))
    response.once('close', () => {
      answers.delete(ended)
      if (answers.size === 0 && this.#open.get(keyId) === answers) this.#open.delete(keyId)
    })
    return ended.signal
  }

  /** Asks the database once for all keys that have answers under way. */
  async endRevoked(): Promise<void> {
    if (this.#open.size === 0) return
    for (const keyId of await listEndedKeys(this.#pool, [...this.#open.keys()])) {
      for (const ended of this.#open.get(keyId) ?? []) ended.abort()
    }
  }
}
