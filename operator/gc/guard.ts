import { recordTrouble } from '../../db/store/installation.ts'
import type { ArtifactStore } from '../../artifacts/store/store.ts'
import type { Context } from '../context.ts'
import { GuardedStore, StoreNotOurs } from './guarded-store.ts'
import { StoreOwnership } from './ownership.ts'
import { sweepGarbage } from './sweep.ts'

type Deps = Pick<Context, 'pool' | 'tracing' | 'artifacts' | 'log'>

// Listing a store takes long, and nobody waits for what it finds.
const betweenSweepsMs = 3600_000
// Whoever removes for long is told soon that the store is not ours any more; to look costs as much as to remove a few things.
const freshMs = 10_000

/** Sees to it that nothing is removed from a store that is not ours alone, or that is newer than the databases. */
export class StoreGuard {
  /** the store for whoever removes something from it: that fails while the store is not ours */
  readonly artifacts: ArtifactStore
  readonly #deps: Deps
  readonly #ownership: StoreOwnership
  #isOurs = false
  /** why nothing is removed */
  #foreign: string | undefined
  /** why not all garbage is removed */
  #garbageTrouble: string | undefined
  /** what was told of these */
  #trouble: string | undefined
  #lookedMs = -Infinity
  #sweptMs = -Infinity

  constructor(deps: Deps) {
    this.#deps = deps
    this.#ownership = new StoreOwnership(deps)
    this.artifacts = new GuardedStore(deps.artifacts, () => this.#requireOurs())
  }

  /** Whether anything may be removed from the store, as far as was looked. */
  get isOurs(): boolean {
    return this.#isOurs
  }

  /** Why nothing, or not all garbage, is removed from the store. */
  get trouble(): string | undefined {
    return this.#trouble
  }

  /** Looks whose the store is, and says in it that it is ours. */
  async check(): Promise<void> {
    const { trouble, isNew } = await this.#ownership.settle()
    if (isNew) {
      this.#garbageTrouble = undefined
      this.#sweptMs = -Infinity
    }
    await this.#record(trouble)
  }

  /** Now and then looks for garbage in a store that is ours. */
  async sweep(): Promise<void> {
    if (!this.#isOurs || performance.now() - this.#sweptMs < betweenSweepsMs) return
    this.#sweptMs = performance.now()
    this.#garbageTrouble = (await sweepGarbage({ ...this.#deps, artifacts: this.artifacts })).trouble
    await this.#report()
  }

  /** @throws {StoreNotOurs} */
  async #requireOurs(): Promise<void> {
    if (performance.now() - this.#lookedMs > freshMs) await this.#record(await this.#ownership.look())
    if (!this.#isOurs) throw new StoreNotOurs(this.#foreign)
  }

  async #record(foreign: string | undefined): Promise<void> {
    this.#lookedMs = performance.now()
    this.#foreign = foreign
    this.#isOurs = foreign === undefined
    await this.#report()
  }

  async #report(): Promise<void> {
    const { pool, log } = this.#deps
    const trouble = this.#foreign ?? this.#garbageTrouble
    if (trouble !== undefined && trouble !== this.#trouble) log.error({ trouble }, 'the artifact store is left alone')
    this.#trouble = trouble
    await recordTrouble(pool, trouble ?? null)
  }
}
