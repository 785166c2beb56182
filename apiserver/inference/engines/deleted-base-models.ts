import { setTimeout as delay } from 'node:timers/promises'
import { listUnregistered } from '../../../db/base-models/base-models.ts'
import type { Follower } from '../../../db/changes.ts'
import type { Pool } from '../../../db/pool.ts'
import type { Logger } from '../../../lib/log.ts'
import { repeat } from '../../../lib/repeat.ts'
import type { EngineRouter } from './engine-router.ts'

// However many base models change, so often is looked at most.
const minPauseMs = 100
// A request may begin to wait just after its base model was deleted.
const everyMs = 1_000

interface Deps {
  pool: Pool
  router: Pick<EngineRouter, 'listAwaited' | 'rejectWaiting'>
  log: Logger
}

/** Answers requests that wait for engines of a deleted base model. Nothing is read while no request waits. */
export class DeletedBaseModels implements Follower {
  readonly #deps: Deps
  readonly #stop = new AbortController()
  readonly #running: Promise<void>
  #changed = Promise.withResolvers<void>()

  constructor(deps: Deps) {
    this.#deps = deps
    const onError = (error: unknown) => deps.log.warn({ error }, 'whether base models were deleted is not known')
    this.#running = repeat(() => this.#run(), { pauseMs: minPauseMs, signal: this.#stop.signal, onError })
  }

  drop(tag: string): void {
    if (tag === 'base-models') this.#changed.resolve()
  }

  clear(): void {
    this.#changed.resolve()
  }

  async close(): Promise<void> {
    this.#stop.abort()
    this.#changed.resolve()
    await this.#running
  }

  /** Waits for a change, or for the next look, and looks. */
  async #run(): Promise<void> {
    const look = new AbortController()
    await Promise.race([
      this.#changed.promise,
      delay(everyMs - minPauseMs, undefined, { signal: look.signal }).catch(() => {}),
    ])
    look.abort()
    this.#changed = Promise.withResolvers<void>()
    const { pool, router } = this.#deps
    const awaited = router.listAwaited()
    if (awaited.length === 0) return
    for (const name of await listUnregistered(pool, awaited)) router.rejectWaiting(name)
  }
}
