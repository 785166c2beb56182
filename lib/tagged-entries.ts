/** A value with its owner, and the tags by which it is dropped. */
export interface TaggedEntry<Value> {
  value: Value
  owner: string
  tags: readonly string[]
}

interface KeptEntry<Value> extends TaggedEntry<Value> {
  /** The number of additions and moves when it was last added or moved. */
  movedAt: number
}

// Moving an entry costs more than finding it. An entry among the last moved ones is not moved again.
const recentFraction = 1 / 8

/**
 * A bounded map. When it is full, the owner with the most entries loses one of its least recently used ones, so that no
 * owner displaces the entries of others.
 */
export class TaggedEntries<Value> {
  readonly #maxEntries: number
  readonly #entries = new Map<string, KeptEntry<Value>>()
  /** Keys by owner, least recently used first. */
  readonly #byOwner = new Map<string, Set<string>>()
  readonly #byTag = new Map<string, Set<string>>()
  #moves = 0

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries
  }

  get size(): number {
    return this.#entries.size
  }

  has(key: string): boolean {
    return this.#entries.has(key)
  }

  /** Returns the value of a key and marks it as used. */
  get(key: string): Value | undefined {
    const entry = this.#entries.get(key)
    if (!entry) return undefined
    if (this.#moves - entry.movedAt > this.#maxEntries * recentFraction) this.#move(key, entry)
    return entry.value
  }

  set(key: string, entry: TaggedEntry<Value>): void {
    this.delete(key)
    this.#entries.set(key, { ...entry, movedAt: ++this.#moves })
    addTo(this.#byOwner, entry.owner, key)
    for (const tag of entry.tags) addTo(this.#byTag, tag, key)
    if (this.#entries.size > this.#maxEntries) this.#evict()
  }

  delete(key: string): void {
    const entry = this.#entries.get(key)
    if (!entry) return
    this.#entries.delete(key)
    removeFrom(this.#byOwner, entry.owner, key)
    for (const tag of entry.tags) removeFrom(this.#byTag, tag, key)
  }

  /** Removes all entries with a tag. */
  deleteTagged(tag: string): void {
    for (const key of this.#byTag.get(tag) ?? []) this.delete(key)
  }

  clear(): void {
    this.#entries.clear()
    this.#byOwner.clear()
    this.#byTag.clear()
  }

  #move(key: string, entry: KeptEntry<Value>): void {
    const keys = this.#byOwner.get(entry.owner)
    keys?.delete(key)
    keys?.add(key)
    entry.movedAt = ++this.#moves
  }

  #evict(): void {
    let largest = new Set<string>()
    for (const keys of this.#byOwner.values()) if (keys.size > largest.size) largest = keys
    const [leastRecent] = largest
    if (leastRecent !== undefined) this.delete(leastRecent)
  }
}

function addTo(index: Map<string, Set<string>>, name: string, key: string): void {
  const keys = index.get(name)
  if (keys) keys.add(key)
  else index.set(name, new Set([key]))
}

function removeFrom(index: Map<string, Set<string>>, name: string, key: string): void {
  const keys = index.get(name)
  keys?.delete(key)
  if (keys?.size === 0) index.delete(name)
}
