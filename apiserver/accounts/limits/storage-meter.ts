import { sumStoredBytes } from '../../../db/accounts/quota-use.ts'
import { sumTraceBytes } from '../../../db/tracing/stored-bytes.ts'
import type { Pool } from '../../../db/pool.ts'
import { isDatabaseUnavailable } from '../../../db/unavailable.ts'

// For so long it is enough to know what was stored before, and what this process has added: others add too.
const keptMs = 5_000
// From this part of its limit on, what an entity has stored is asked for each time.
const near = 0.9
const maxKept = 10_000

/** What a process knows of what an entity has stored. */
export class KnownUse {
  /** As they were measured last. */
  training = 0
  traces = 0
  /** Stored by this process since that measuring began. */
  added = 0
  /** On its way in. */
  incoming = 0
  untilMs = -Infinity

  get stored(): number {
    return this.training + this.traces + this.added
  }
}

/** Measures what entities have stored, and remembers it for some seconds. */
export class StorageMeter {
  readonly #pool: Pool
  readonly #tracing: Pool
  readonly #known = new Map<string, KnownUse>()
  readonly #measuring = new Map<string, Promise<number>>()

  constructor({ pool, tracing }: { pool: Pool; tracing: Pool }) {
    this.#pool = pool
    this.#tracing = tracing
  }

  /** What an entity has stored now. While the database of traces is away, these count as they were known last. */
  measure(entity: string): Promise<number> {
    const measuring = this.#measuring.get(entity) ?? this.#sum(entity).finally(() => this.#measuring.delete(entity))
    this.#measuring.set(entity, measuring)
    return measuring
  }

  /** What is known, some seconds old at most where there is a limit. */
  async estimate(entity: string, limit: number): Promise<KnownUse> {
    const use = this.#find(entity)
    if (limit !== Infinity && use.untilMs <= performance.now()) await this.measure(entity)
    return use
  }

  /** The same; where so many bytes more come near the limit it is measured afresh. */
  async estimateWith(entity: string, limit: number, bytes: number): Promise<KnownUse> {
    const use = await this.estimate(entity, limit)
    if (use.stored + use.incoming + bytes > near * limit) await this.measure(entity)
    return use
  }

  /** Notes what this process has stored. */
  record(entity: string, bytes: number): void {
    const known = this.#known.get(entity)
    if (known) known.added += bytes
  }

  /** What is noted while this asks may be in the answer or not: it counts until the next time. */
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

  /** Undefined while their database is away. */
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
