import type { ServerResponse } from 'node:http'
import { listUsableKeys } from '../../../db/accounts/api-keys.ts'
import { findSessionTimes } from '../../../db/accounts/sessions.ts'
import type { Follower } from '../../../db/changes.ts'
import type { Pool } from '../../../db/pool.ts'
import type { Lease } from '../../../lib/leased-cache.ts'
import type { Caller } from '../context.ts'

/** Who gets a response. */
type Receiver = Pick<Caller, 'keyId' | 'sessionId'>

/** Running responses. They are aborted when their key is revoked or expires, or when their browser logs out. */
export class RevocableResponses implements Follower {
  readonly #pool: Pool
  readonly #lease: Lease
  /** A key without responses has no entry. */
  readonly #byKey = new Map<string, Set<() => void>>()
  /** A session without responses has no entry. */
  readonly #bySession = new Map<string, Set<() => void>>()
  /** When the tracked keys expire. Keys that may have changed have no entry. */
  readonly #endsAtMs = new Map<string, number>()
  #changes = 0

  constructor(pool: Pool, lease: Lease) {
    this.#pool = pool
    this.#lease = lease
  }

  /** The signal is aborted if the key or the session stops being usable before the response is sent. */
  track(receiver: Receiver, response: ServerResponse): AbortSignal {
    const revoked = new AbortController()
    // A closed response emits no further 'close'.
    if (!response.closed)
      response.once(
        'close',
        this.follow(receiver, () => revoked.abort()),
      )
    return revoked.signal
  }

  /** Calls back when the key or the session stops being usable. Call the returned function to stop this. */
  follow({ keyId, sessionId }: Receiver, onRevoked: () => void): () => void {
    add(this.#byKey, keyId, onRevoked)
    if (sessionId !== undefined) add(this.#bySession, sessionId, onRevoked)
    return () => {
      if (sessionId !== undefined) remove(this.#bySession, sessionId, onRevoked)
      if (remove(this.#byKey, keyId, onRevoked)) this.#endsAtMs.delete(keyId)
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

  /** Checks the responses of a changed key or session at once. */
  drop(tag: string): void {
    this.#changes++
    // If this fails, a stream's next check of its own finds it.
    if (tag.startsWith('session:')) void this.#abortEnded(tag.slice('session:'.length)).catch(() => {})
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

  /** A session also changes when its last use is recorded. */
  async #abortEnded(sessionId: string): Promise<void> {
    if (!this.#bySession.has(sessionId) || (await findSessionTimes(this.#pool, sessionId))) return
    for (const onEnded of this.#bySession.get(sessionId) ?? []) onEnded()
  }
}

type Callbacks = Map<string, Set<() => void>>

function add(all: Callbacks, id: string, callback: () => void): void {
  const own = all.get(id) ?? new Set()
  all.set(id, own.add(callback))
}

/** Returns whether it was the last one of this id. */
function remove(all: Callbacks, id: string, callback: () => void): boolean {
  const own = all.get(id)
  if (!own?.delete(callback) || own.size > 0) return false
  return all.delete(id)
}
