import type { ServerResponse } from 'node:http'
import { listUsableKeys } from '../../../db/accounts/api-keys.ts'
import type { Follower } from '../../../db/changes.ts'
import type { Pool } from '../../../db/pool.ts'
import type { Lease } from '../../../lib/leased-cache.ts'

/** Running responses by API key. They are aborted when the key is revoked or expires. */
export class RevocableResponses implements Follower {
  readonly #pool: Pool
  readonly #lease: Lease
  /** A key without responses has no entry. */
  readonly #byKey = new Map<string, Set<() => void>>()
  /** When the tracked keys expire. Keys that may have changed have no entry. */
  readonly #endsAtMs = new Map<string, number>()
  #changes = 0

  constructor(pool: Pool, lease: Lease) {
    this.#pool = pool
    this.#lease = lease
  }

  /** The signal is aborted if the key stops being usable before the response is sent. */
  track(keyId: string, response: ServerResponse): AbortSignal {
    const revoked = new AbortController()
    // A closed response emits no further 'close'.
    if (!response.closed)
      response.once(
        'close',
        this.follow(keyId, () => revoked.abort()),
      )
    return revoked.signal
  }

  /** Calls back when the key stops being usable. Call the returned function to stop this. */
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
   * Aborts the responses of keys that are revoked or expired. One query asks for all keys without a known expiry: those
   * that are new or have changed.
   */
  async abortRevoked(): Promise<void> {
    if (this.#byKey.size === 0) return
    if (!(await this.#lease.renew())) this.#endsAtMs.clear()
    await this.#ask([...this.#byKey.keys()].filter((keyId) => !this.#endsAtMs.has(keyId)))
    const nowMs = Date.now()
    for (const [keyId, endsAtMs] of this.#endsAtMs) if (endsAtMs <= nowMs) this.#abort(keyId)
  }

  /** Checks the responses of a changed key at once. */
  drop(tag: string): void {
    this.#changes++
    if (tag.startsWith('entity:')) this.#endsAtMs.clear()
    const keyId = tag.startsWith('key:') ? tag.slice('key:'.length) : ''
    if (!this.#byKey.has(keyId)) return
    this.#endsAtMs.delete(keyId)
    // If this fails, the next regular check finds them.
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
      // A key that may have changed meanwhile is checked again by the next call.
      else if (changes === this.#changes && this.#byKey.has(keyId))
        this.#endsAtMs.set(keyId, expiresAt?.getTime() ?? Infinity)
    }
  }

  #abort(keyId: string): void {
    for (const onRevoked of this.#byKey.get(keyId) ?? []) onRevoked()
  }
}
