import { listUnregistered } from '../../../db/base-models/base-models.ts'
import type { Follower } from '../../../db/changes.ts'
import type { Pool } from '../../../db/pool.ts'
import type { Logger } from '../../../lib/log.ts'
import { WakeableRepeat } from '../../../lib/wakeable-repeat.ts'
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
  readonly #looks: WakeableRepeat

  constructor(deps: Deps) {
    this.#deps = deps
    const onError = (error: unknown) => deps.log.warn({ error }, 'whether base models were deleted is not known')
    this.#looks = new WakeableRepeat(() => this.#look(), { everyMs, minPauseMs, onError })
  }

  drop(tag: string): void {
    if (tag === 'base-models') this.#looks.wake()
  }

  clear(): void {
    this.#looks.wake()
  }

  close(): Promise<void> {
    return this.#looks.close()
  }

  async #look(): Promise<void> {
    const { pool, router } = this.#deps
    const awaited = router.listAwaited()
    if (awaited.length === 0) return
    for (const name of await listUnregistered(pool, awaited)) router.rejectWaiting(name)
  }
}
