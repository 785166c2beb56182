/**
 * Loads values for many callers. For each key, one load runs at a time. Callers during a load share the next one, so
 * that each caller's load begins after its call.
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
    // A later caller may have started it already.
    return this.#running.get(key) ?? this.#start(key, load)
  }

  #start(key: string, load: () => Promise<Value>): Promise<Value> {
    const loading = load().finally(() => this.#running.delete(key))
    this.#running.set(key, loading)
    return loading
  }
}
