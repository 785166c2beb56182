import { setTimeout as delay } from 'node:timers/promises'
import type { Follower } from '../../../db/changes.ts'
import { listLoadedAdapters } from '../../../db/engines/loaded-adapters.ts'
import type { Pool } from '../../../db/pool.ts'
import type { Logger } from '../../../lib/log.ts'

const tagPrefix = 'adapters:'
// Changes of several pods that come together need one query.
const gatherMs = 50
const retryMs = 1_000
// All pods together. Each entry takes about a hundred bytes.
const maxEntries = 100_000

/**
 * What engine pods have said that they have loaded. Postgres notifies of each change, and the pod's list is read again.
 * While that is not possible, the last known lists are used: they only decide which pod is preferred.
 */
export class LoadedAdapters implements Follower {
  readonly #pool: Pool
  readonly #log: Logger
  readonly #stop = new AbortController()
  #byPod = new Map<string, Set<string>>()
  /** The pods whose list has changed. */
  #stale = new Set<string>()
  #isAllStale = false
  #reading: Promise<void> | undefined

  constructor(pool: Pool, log: Logger) {
    this.#pool = pool
    this.#log = log
  }

  has(pod: string, adapter: string): boolean {
    return this.#byPod.get(pod)?.has(adapter) === true
  }

  drop(tag: string): void {
    if (!tag.startsWith(tagPrefix)) return
    this.#stale.add(tag.slice(tagPrefix.length))
    this.#schedule()
  }

  clear(): void {
    this.#isAllStale = true
    this.#schedule()
  }

  /** Ends the reading. */
  async close(): Promise<void> {
    this.#stop.abort()
    await this.#reading
  }

  #schedule(): void {
    if (!this.#stop.signal.aborted) this.#reading ??= this.#read().finally(() => (this.#reading = undefined))
  }

  async #read(): Promise<void> {
    const { signal } = this.#stop
    for (let pauseMs = gatherMs; this.#isAllStale || this.#stale.size > 0;) {
      await delay(pauseMs, undefined, { signal, ref: false }).catch(() => {})
      if (signal.aborted) return
      const pods = this.#isAllStale ? null : [...this.#stale]
      this.#isAllStale = false
      this.#stale = new Set()
      pauseMs = (await this.#readPods(pods)) ? gatherMs : retryMs
    }
  }

  async #readPods(pods: string[] | null): Promise<boolean> {
    try {
      const rows = await listLoadedAdapters(this.#pool, pods, maxEntries)
      if (pods === null) this.#byPod = new Map()
      for (const pod of pods ?? []) this.#byPod.delete(pod)
      for (const [pod, loaded] of Map.groupBy(rows, ({ podName }) => podName)) {
        this.#byPod.set(pod, new Set(loaded.map(({ checkpointId }) => checkpointId)))
      }
      return true
    } catch (error) {
      this.#log.warn({ error }, 'what engines have loaded is not read yet')
      if (pods === null) this.#isAllStale = true
      for (const pod of pods ?? []) this.#stale.add(pod)
      return false
    }
  }
}
