/** Requests with one name that wait to be sent together. */
interface Batch<Answer> {
  keys: Set<string>
  answer: Promise<Answer>
  /** How many of those who asked still want the answer. */
  wanted: number
  ending: AbortController
}

type Ask<Answer> = (name: string, keys: string[], signal: AbortSignal) => Promise<Answer>

/**
 * Joins requests that are made at the same time and have one name: their keys are asked for at once. The request is given
 * up when nobody wants its answer any more.
 */
export class Batches<Answer> {
  readonly #ask: Ask<Answer>
  readonly #maxKeys: number
  readonly #open = new Map<string, Batch<Answer>>()

  constructor(ask: Ask<Answer>, maxKeys: number) {
    this.#ask = ask
    this.#maxKeys = maxKeys
  }

  /** Returns an answer that has these keys, and may have others. */
  get(name: string, keys: readonly string[], signal: AbortSignal): Promise<Answer> {
    const open = this.#open.get(name)
    const hasRoom = open && new Set([...open.keys, ...keys]).size <= this.#maxKeys
    const batch = hasRoom ? open : this.#begin(name)
    for (const key of keys) batch.keys.add(key)
    batch.wanted++
    signal.addEventListener('abort', () => {
      if (--batch.wanted === 0) batch.ending.abort()
    })
    return batch.answer
  }

  #begin(name: string): Batch<Answer> {
    const { promise, resolve } = Promise.withResolvers<Answer>()
    const batch: Batch<Answer> = { keys: new Set(), answer: promise, wanted: 0, ending: new AbortController() }
    this.#open.set(name, batch)
    setTimeout(() => {
      if (this.#open.get(name) === batch) this.#open.delete(name)
      resolve(this.#ask(name, [...batch.keys], batch.ending.signal))
    })
    return batch
  }
}
