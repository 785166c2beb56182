import type { EnginePod } from './engine-pods.ts'

/** The keys that engines may ask for: while the key is changed, older engines know only the previous one. */
export class EngineKeys {
  readonly #keys: readonly string[]
  /** Of pods that do not take the first key: the index of the one that they may take. */
  readonly #indexes = new WeakMap<EnginePod, number>()

  /** @param keys the current one first */
  constructor(keys: readonly string[]) {
    this.#keys = keys
  }

  keyOf(pod: EnginePod): string {
    return this.#keys[this.#indexes.get(pod) ?? 0] ?? ''
  }

  /** Records that a pod does not take a key. Returns whether there is another one to try. */
  reject(pod: EnginePod, key: string): boolean {
    const next = this.#keys.indexOf(key) + 1
    this.#indexes.set(pod, next % this.#keys.length)
    return next < this.#keys.length
  }
}
