import { recordKeyUses } from '../../../db/queries/api-keys.ts'
import type { Pool } from '../../../db/pool.ts'

// The database keeps one use a minute; a process does not ask it more often.
const quietMs = 60_000

/** Which keys were used. They are noted in the background: no request waits for that, or fails by it. */
export class KeyUses {
  readonly #pool: Pool
  /** When a key's use was noted last, and those that are still to be noted; a key without a use for a minute has no entry. */
  readonly #recordedAtMs = new Map<string, number>()
  readonly #used = new Set<string>()

  constructor(pool: Pool) {
    this.#pool = pool
  }

  record(keyId: string): void {
    if (!this.#recordedAtMs.has(keyId)) this.#used.add(keyId)
  }

  /** Writes down what was used since the last time. */
  async flush(): Promise<void> {
    const now = performance.now()
    for (const [keyId, atMs] of this.#recordedAtMs) if (now - atMs > quietMs) this.#recordedAtMs.delete(keyId)
    if (this.#used.size === 0) return
    const keyIds = [...this.#used]
    this.#used.clear()
    for (const keyId of keyIds) this.#recordedAtMs.set(keyId, now)
    await recordKeyUses(this.#pool, keyIds)
  }
}
