// The database stores one use per minute, so a process writes no more often.
const quietMs = 60_000

/**
 * Tracks when API keys, or sessions, were last used. The times are written in the background: no request waits for it or fails
 * because of it.
 */
export class LastUsedTracker {
  readonly #write: (ids: string[]) => Promise<void>
  /** When a key's use was last written. Entries are removed after a minute without a use. */
  readonly #recordedAtMs = new Map<string, number>()
  /** Keys whose use is not written yet. */
  readonly #used = new Set<string>()

  constructor(write: (ids: string[]) => Promise<void>) {
    this.#write = write
  }

  record(id: string): void {
    if (!this.#recordedAtMs.has(id)) this.#used.add(id)
  }

  /** Writes the uses since the last flush. */
  async flush(): Promise<void> {
    const now = performance.now()
    for (const [id, atMs] of this.#recordedAtMs) if (now - atMs > quietMs) this.#recordedAtMs.delete(id)
    if (this.#used.size === 0) return
    const ids = [...this.#used]
    this.#used.clear()
    for (const id of ids) this.#recordedAtMs.set(id, now)
    await this.#write(ids)
  }
}
