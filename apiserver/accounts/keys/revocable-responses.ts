import type { ServerResponse } from 'node:http'
import { listEndedKeys } from '../../../db/accounts/api-keys.ts'
import type { Pool } from '../../../db/pool.ts'

/** Responses under way, by their API key. They are aborted when the key is revoked or expires. */
export class RevocableResponses {
  readonly #pool: Pool
  /** A key without any has no entry. */
  readonly #byKey = new Map<string, Set<AbortController>>()

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** The signal is aborted when the key may no longer be used before the response is sent. */
  track(keyId: string, response: ServerResponse): AbortSignal {
    const revoked = new AbortController()
    // It emits no further 'close'.
    if (response.closed) return revoked.signal
    const responses = this.#byKey.get(keyId) ?? new Set()
    this.#byKey.set(keyId, responses.add(revoked))
    response.once('close', () => {
      responses.delete(revoked)
      if (responses.size === 0 && this.#byKey.get(keyId) === responses) this.#byKey.delete(keyId)
    })
    return revoked.signal
  }

  /** Asks the database once for all keys that have responses under way. */
  async abortRevoked(): Promise<void> {
    if (this.#byKey.size === 0) return
    for (const keyId of await listEndedKeys(this.#pool, [...this.#byKey.keys()])) {
      for (const revoked of this.#byKey.get(keyId) ?? []) revoked.abort()
    }
  }
}
