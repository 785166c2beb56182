import type { ServerResponse } from 'node:http'
import { listUsableKeys } from '../../../db/accounts/api-keys.ts'
import type { Follower } from '../../../db/changes.ts'
import type { Pool } from '../../../db/pool.ts'
import type { Lease } from '../../../lib/leased-cache.ts'

/** Responses under way, by their API key. They are aborted when the key is revoked or expires. */
export class RevocableResponses implements Follower {
  readonly #pool: Pool
  readonly #lease: Lease
  /** A key without any has no entry. */
  readonly #byKey = new Map<string, Set<() => void>>()
  /** When keys with responses end that are not known to have changed. */
  readonly #endsAtMs = new Map<string, number>()
  #changes = 0

  constructor(pool: Pool, lease: Lease) {
    this.#pool = pool
    this.#lease = lease
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
      if (responses.size > 0 || this.#byKey.get(keyId) !== responses) return
      this.#byKey.delete(keyId)
      this.#endsAtMs.delete(keyId)
    }
  }

  /**
   * Aborts the responses of keys that have ended. The database is asked once for all keys of which it is not known: where
   * changes are told, for new ones and changed ones only.
   */
  async abortRevoked(): Promise<void> {
    if (this.#byKey.size === 0) return
    if (!(await this.#lease.renew())) this.#endsAtMs.clear()
    await this.#ask([...this.#byKey.keys()].filter((keyId) => !this.#endsAtMs.has(keyId)))
    const nowMs = Date.now()
    for (const [keyId, endsAtMs] of this.#endsAtMs) if (endsAtMs <= nowMs) this.#abort(keyId)
  }

  /** Looks at once for responses whose key has changed. */
  drop(tag: string): void {
    this.#changes++
    if (tag.startsWith('entity:')) this.#endsAtMs.clear()
    const keyId = tag.startsWith('key:') ? tag.slice('key:'.length) : ''
    if (!this.#byKey.has(keyId)) return
    this.#endsAtMs.delete(keyId)
    // If that fails, the next regular look finds them.
    void this.abortRevoked().catch(() => {})
  }

  clear(): void {
    this.#changes++
    this.#endsAtMs.clear()
  }

  async #ask(keyIds: string[]): Promise<void> {
    if (keyIds.length === 0) return
    const changes = this.#changes
    const usable = new Map((await listUsableKeys(this.#pool, keyIds)).map(({ id, expiresAt }) => [id, expiresAt]))
    for (const keyId of keyIds) {
      const expiresAt = usable.get(keyId)
      if (expiresAt === undefined) this.#abort(keyId)
      // Of a key that may have changed meanwhile the next look asks again.
      else if (changes === this.#changes && this.#byKey.has(keyId))
        this.#endsAtMs.set(keyId, expiresAt?.getTime() ?? Infinity)
    }
  }

  #abort(keyId: string): void {
    for (const onRevoked of this.#byKey.get(keyId) ?? []) onRevoked()
  }
}
