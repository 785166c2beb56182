/** The keys of resources by the ids of their rows, as far as a reconciliation has found them to belong together. */
export class ResourceIds {
  readonly #keys = new Map<string, string>()
  readonly #ids = new Map<string, string>()

  record(id: string, key: string): void {
    if (this.#ids.get(key) === id) return
    this.forget(key)
    this.#keys.set(id, key)
    this.#ids.set(key, id)
  }

  find(id: string): string | undefined {
    return this.#keys.get(id)
  }

  /** Call it when a resource is gone. */
  forget(key: string): void {
    const id = this.#ids.get(key)
    this.#ids.delete(key)
    if (id !== undefined && this.#keys.get(id) === key) this.#keys.delete(id)
  }
}
