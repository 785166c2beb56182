import { recordTrouble } from '../../db/store/installation.ts'
import type { ArtifactStore } from '../../artifacts/store/store.ts'
import type { OperatorEvents } from '../metrics/events.ts'
import { GuardedStore, StoreNotOurs } from './guarded-store.ts'
import { StoreOwnership } from './ownership.ts'
import { sweepGarbage, type SweepDeps } from './sweep.ts'

// Listing a store takes long, and nobody waits for the result.
const betweenSweepsMs = 3600_000
// A long removal soon detects that the store is not ours any more. A check costs as much as removing a few objects.
export const maxCheckAgeMs = 10_000

interface GuardDeps extends SweepDeps {
  events?: Pick<OperatorEvents, 'recordDrift'>
}

/** Removes nothing from a store that is not ours alone, or that is newer than the databases. */
export class StoreGuard {
  /** The store for callers that remove something. A removal fails while the store is not ours. */
  readonly artifacts: ArtifactStore
  readonly #deps: GuardDeps
  readonly #ownership: StoreOwnership
  #isOurs = false
  #isStopped = false
  /** Why nothing is removed. */
  #foreign: string | undefined
  /** Why not all garbage is removed. */
  #garbageTrouble: string | undefined
  /** The trouble that was logged last. */
  #trouble: string | undefined
  #checkedMs = -Infinity
  #sweptMs = -Infinity

  constructor(deps: GuardDeps) {
    this.#deps = deps
    this.#ownership = new StoreOwnership(deps)
    this.artifacts = new GuardedStore(deps.artifacts, () => this.#requireOurs())
  }

  /** Whether the last check found the store to be ours. */
  get isOurs(): boolean {
    return this.#isOurs
  }

  /** Why nothing, or not all garbage, is removed from the store. */
  get trouble(): string | undefined {
    return this.#trouble
  }

  /** Checks who owns the store, and renews our sign in it. */
  async check(): Promise<void> {
    const { trouble, isNew } = await this.#ownership.renew()
    if (isNew) {
      this.#garbageTrouble = undefined
      this.#sweptMs = -Infinity
    }
    await this.#record(trouble)
  }

  /** Sweeps garbage from a store that is ours, at most once an hour. */
  async sweep(): Promise<void> {
    if (!this.#isOurs || performance.now() - this.#sweptMs < betweenSweepsMs) return
    this.#sweptMs = performance.now()
    const { removed, trouble } = await sweepGarbage({ ...this.#deps, artifacts: this.artifacts })
    this.#deps.events?.recordDrift('file_unreferenced', removed)
    this.#garbageTrouble = trouble
    await this.#report()
  }

  /** Lets no further removal begin: another operator may check the store from now on. */
  stop(): void {
    this.#isStopped = true
  }

  /** @throws {StoreNotOurs} */
  async #requireOurs(): Promise<void> {
    if (performance.now() - this.#checkedMs > maxCheckAgeMs) await this.#record(await this.#ownership.check())
    if (this.#isStopped) throw new StoreNotOurs('the operator is being stopped')
    if (!this.#isOurs) throw new StoreNotOurs(this.#foreign)
  }

  async #record(foreign: string | undefined): Promise<void> {
    this.#checkedMs = performance.now()
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
