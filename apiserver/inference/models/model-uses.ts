import { recordAdapterUses, type AdapterUse } from '../../../db/engines/adapter-uses.ts'
import type { Pool } from '../../../db/pool.ts'
import type { Logger } from '../../../lib/log.ts'
import { repeat } from '../../../lib/repeat.ts'
import type { ChatTarget } from './resolve-model.ts'

// A model counts as in use for a quarter of an hour.
const repeatedMs = 60_000
const flushMs = 500
const maxWritten = 1_000
// Steps in the last minute. If one is dropped too early, it is written once more.
const defaultMaxEntries = 10_000

/** Records which steps of models are asked, for the engines that should have them loaded. No chat waits for it. */
export class ModelUses {
  readonly #pool: Pool
  readonly #maxEntries: number
  /** When each step was last recorded, oldest first. The key is its checkpoint, or the model for step 0. */
  readonly #recordedAt = new Map<string, number>()
  #waiting: AdapterUse[] = []
  readonly #stop = new AbortController()
  #running: Promise<void> | undefined

  constructor(pool: Pool, maxEntries = defaultMaxEntries) {
    this.#pool = pool
    this.#maxEntries = maxEntries
  }

  /** Records that a client asks a model now. */
  record({ engineName, charged }: ChatTarget): void {
    const { modelId, baseModel } = charged
    if (modelId === null) return
    const isStep0 = engineName === baseModel
    const key = isStep0 ? modelId : engineName
    const nowMs = performance.now()
    if (nowMs - (this.#recordedAt.get(key) ?? -Infinity) < repeatedMs) return
    this.#remember(key, nowMs)
    if (this.#waiting.length < this.#maxEntries) {
      this.#waiting.push({ modelId, checkpointId: isStep0 ? null : engineName })
    }
  }

  /** Writes what was recorded, from now on. */
  start(log: Logger): void {
    const onError = (error: unknown) => log.warn({ error }, 'uses of models are not written yet')
    this.#running = repeat(() => this.flush(), { pauseMs: flushMs, signal: this.#stop.signal, onError })
  }

  /** Writes what was recorded. If that fails, it is written the next time. */
  async flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      const uses = this.#waiting.slice(0, maxWritten)
      await recordAdapterUses(this.#pool, uses)
      this.#waiting = this.#waiting.slice(uses.length)
    }
  }

  async close(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  #remember(key: string, nowMs: number): void {
    this.#recordedAt.delete(key)
    this.#recordedAt.set(key, nowMs)
    if (this.#recordedAt.size <= this.#maxEntries) return
    const [oldest] = this.#recordedAt.keys()
    if (oldest !== undefined) this.#recordedAt.delete(oldest)
  }
}
