import type { ServerResponse } from 'node:http'
import { listEndedKeys } from '../../../db/accounts/api-keys.ts'
import type { Pool } from '../../../db/pool.ts'

/** Responses under way, by their API key. They are aborted when the key is revoked or expires. */
export class RevocableResponses {
  readonly #pool: Pool
  /** A key without any has no entry. */
  readonly #byKey = new Map<string, Set<() => void>>()

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** The signal is aborted when the key may no longer be used before the response is sent. */
  track(keyId: string, response: ServerResponse): AbortSignal {
    const revoked = new AbortController()
    // It emits no further 'close'.
    if (!response.closed)
      response.once(
        'close',
        this.follow(keyId, () => revoked.abort()),
      )
    return revoked.signal
  }

  /** Calls back when the key may no longer be used, until the function that is returned is called. */
  follow(keyId: string, onRevoked: () => void): () => void {
    const responses = this.#byKey.get(keyId) ?? new Set()
    this.#byKey.set(keyId, responses.add(onRevoked))
    return () => {
      responses.delete(onRevoked)
      if (responses.size === 0 && this.#byKey.get(keyId) === responses) this.#byKey.delete(keyId)
    }
  }

  /** Asks the database once for all keys that have responses under way. */
  async abortRevoked(): Promise<void> {
    if (this.#byKey.size === 0) return
    for (const keyId of await listEndedKeys(this.#pool, [...this.#byKey.keys()])) {
      for (const onRevoked of this.#byKey.get(keyId) ?? []) onRevoked()
    }
  }
}
