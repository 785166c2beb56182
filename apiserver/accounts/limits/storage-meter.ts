import { sumStoredBytes } from '../../../db/accounts/quota-use.ts'
import { sumTraceBytes } from '../../../db/tracing/stored-bytes.ts'
import type { Pool } from '../../../db/pool.ts'
import { isDatabaseUnavailable } from '../../../db/unavailable.ts'

// For this time the last measurement is used, plus what this process has added. Other processes add too.
const keptMs = 5_000
// Above this part of the limit, every request measures again.
const near = 0.9
const maxKept = 10_000

/** What a process knows about an entity's stored bytes. */
export class KnownUse {
  /** The last measurement. */
  training = 0
  traces = 0
  /** Bytes that this process has stored since the last measurement began. */
  added = 0
  /** Bytes that are arriving. */
  incoming = 0
  untilMs = -Infinity

  get stored(): number {
    return this.training + this.traces + this.added
  }
}

/** Measures what entities have stored, and caches it for some seconds. */
export class StorageMeter {
  readonly #pool: Pool
  readonly #tracing: Pool
  readonly #known = new Map<string, KnownUse>()
  readonly #measuring = new Map<string, Promise<number>>()

  constructor({ pool, tracing }: { pool: Pool; tracing: Pool }) {
    this.#pool = pool
    this.#tracing = tracing
  }

  /** Measures what an entity has stored. While the tracing database is unavailable, uses its last value. */
  measure(entity: string): Promise<number> {
    const measuring = this.#measuring.get(entity) ?? this.#sum(entity).finally(() => this.#measuring.delete(entity))
    this.#measuring.set(entity, measuring)
    return measuring
  }

  /** Returns the cached value, which is at most some seconds old if there is a limit. */
  async estimate(entity: string, limit: number): Promise<KnownUse> {
    const use = this.#find(entity)
    if (limit !== Infinity && use.untilMs <= performance.now()) await this.measure(entity)
    return use
  }

  /** Does the same, but measures again if these bytes come near the limit. */
  async estimateWith(entity: string, limit: number, bytes: number): Promise<KnownUse> {
    const use = await this.estimate(entity, limit)
    if (use.stored + use.incoming + bytes > near * limit) await this.measure(entity)
    return use
  }

  /** Records bytes that this process has stored. */
  record(entity: string, bytes: number): void {
    const known = this.#known.get(entity)
    if (known) known.added += bytes
  }

  /** Bytes that are recorded during the measurement may be included in it or not. They count until the next one. */
  async #sum(entity: string): Promise<number> {
    const use = this.#find(entity)
    const before = use.added
    const [training, traces] = await Promise.all([sumStoredBytes(this.#pool, entity), this.#sumTraces(entity)])
    use.training = training
    use.traces = traces ?? use.traces + before
    use.added -= before
    use.untilMs = performance.now() + keptMs
    return use.training + use.traces
  }

  /** Undefined while the tracing database is unavailable. */
  async #sumTraces(entity: string): Promise<number | undefined> {
    try {
      return await sumTraceBytes(this.#tracing, entity)
    } catch (error) {
      if (isDatabaseUnavailable(error)) return undefined
      throw error
    }
  }

  #find(entity: string): KnownUse {
    const known = this.#known.get(entity)
    if (known) return known
    if (this.#known.size >= maxKept) this.#forgetIdle()
    const use = new KnownUse()
    this.#known.set(entity, use)
    return use
  }

  #forgetIdle(): void {
    for (const [entity, { incoming }] of this.#known) if (incoming === 0) this.#known.delete(entity)
  }
}
