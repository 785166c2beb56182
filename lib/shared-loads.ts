/**
 * Loads values for many callers. Callers that ask for a key while it is being loaded share the next load: one at a time for
 * each key, however many callers there are, and each caller's load begins after the caller has asked.
 */
export class SharedLoads<Value> {
  readonly #running = new Map<string, Promise<Value>>()
  readonly #next = new Map<string, Promise<Value>>()

  get(key: string, load: () => Promise<Value>): Promise<Value> {
    const running = this.#running.get(key)
    if (!running) return this.#start(key, load)
    const next = this.#next.get(key) ?? this.#startAfter(running, key, load)
    this.#next.set(key, next)
    return next
  }

  async #startAfter(running: Promise<Value>, key: string, load: () => Promise<Value>): Promise<Value> {
    await running.catch(() => {})
    this.#next.delete(key)
    // A later caller may have begun it already.
    return this.#running.get(key) ?? this.#start(key, load)
  }

  #start(key: string, load: () => Promise<Value>): Promise<Value> {
    const loading = load().finally(() => this.#running.delete(key))
    this.#running.set(key, loading)
    return loading
  }
}
