import { recordKeyUses } from '../../../db/accounts/api-keys.ts'
import type { Pool } from '../../../db/pool.ts'

// The database stores one use per minute, so a process writes no more often.
const quietMs = 60_000

/**
 * Tracks when API keys were last used. The times are written in the background: no request waits for it or fails
 * because of it.
 */
export class LastUsedTracker {
  readonly #pool: Pool
  /** When a key's use was last written. Entries are removed after a minute without a use. */
  readonly #recordedAtMs = new Map<string, number>()
  /** Keys whose use is not written yet. */
  readonly #used = new Set<string>()

  constructor(pool: Pool) {
    this.#pool = pool
  }

  record(keyId: string): void {
    if (!this.#recordedAtMs.has(keyId)) this.#used.add(keyId)
  }

  /** Writes the uses since the last flush. */
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
