import { SharedLoads } from './shared-loads.ts'
import { TaggedEntries, type TaggedEntry } from './tagged-entries.ts'

/** The right to answer from memory. It expires by itself and is renewed while it is used. */
export interface Lease {
  /** Whether it is valid now. The call keeps it alive. */
  isValid(): boolean
  /** Renews an expired lease. Soon returns false if that is not possible; then nothing is answered from memory. */
  renew(): Promise<boolean>
}

/** A loaded value. A value without an owner is not cached. */
export type Loaded<Value> = TaggedEntry<Value> | { value: Value; owner?: undefined }

/**
 * Values in memory that are valid while a lease is valid and nobody has dropped them. A loaded value is cached only if
 * none of its tags was dropped since its load began: the load may have read the old value.
 */
export class LeasedCache<Value extends object> {
  readonly #lease: Lease
  readonly #maxEntries: number
  readonly #entries: TaggedEntries<Value>
  readonly #loads = new SharedLoads<Value>()
  #loading = 0
  /** The number of drops so far. */
  #epoch = 0
  /** When each tag was last dropped, kept only during loads. */
  readonly #droppedAt = new Map<string, number>()
  /** Values whose load began before this are not cached. */
  #clearedAt = 0

  constructor(lease: Lease, maxEntries: number) {
    this.#lease = lease
    this.#maxEntries = maxEntries
    this.#entries = new TaggedEntries(maxEntries)
  }

  /** The value of a key, if it is in memory and the lease is valid. */
  peek(key: string): Value | undefined {
    return this.#lease.isValid() ? this.#entries.get(key) : undefined
  }

  /**
   * The value of a key: from memory if the lease is valid or can be renewed, else from a load that begins after this
   * call.
   */
  async get(key: string, load: () => Promise<Loaded<Value>>): Promise<Value> {
    if (this.#entries.has(key) && (await this.#lease.renew())) {
      const known = this.peek(key)
      if (known) return known
    }
    return this.#loads.get(key, () => this.#load(key, load))
  }

  /** Removes all values with this tag. */
  drop(tag: string): void {
    this.#epoch++
    this.#entries.deleteTagged(tag)
    if (this.#loading > 0) this.#recordDrop(tag)
  }

  /** Removes all values. */
  clear(): void {
    this.#clearedAt = ++this.#epoch
    this.#droppedAt.clear()
    this.#entries.clear()
  }

  #recordDrop(tag: string): void {
    this.#droppedAt.set(tag, this.#epoch)
    if (this.#droppedAt.size <= this.#maxEntries) return
    this.#droppedAt.clear()
    this.#clearedAt = this.#epoch
  }

  async #load(key: string, load: () => Promise<Loaded<Value>>): Promise<Value> {
    const beganAt = this.#epoch
    this.#loading++
    try {
      const loaded = await load()
      if (loaded.owner !== undefined && this.#isUnchanged(loaded.tags, beganAt)) this.#entries.set(key, loaded)
      return loaded.value
    } finally {
      if (--this.#loading === 0) this.#droppedAt.clear()
    }
  }

  #isUnchanged(tags: readonly string[], since: number): boolean {
    return this.#clearedAt <= since && tags.every((tag) => (this.#droppedAt.get(tag) ?? 0) <= since)
  }
}
