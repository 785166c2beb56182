interface Node<T> {
  value: T
  before: Node<T> | undefined
  after: Node<T> | undefined
}

/**
 * Values in order of arrival. Any value can leave. Each step takes constant time, however long the line is. In a Set,
 * finding the first value would take longer the more values have left before it.
 */
export class WaitingLine<T> {
  #first: Node<T> | undefined
  #last: Node<T> | undefined

  get first(): T | undefined {
    return this.#first?.value
  }

  /** Adds a value at the end. Call the returned function once to remove it. */
  push(value: T): () => void {
    const node: Node<T> = { value, before: this.#last, after: undefined }
    if (this.#last) this.#last.after = node
    else this.#first = node
    this.#last = node
    return () => this.#remove(node)
  }

  #remove({ before, after }: Node<T>): void {
    if (before) before.after = after
    else this.#first = after
    if (after) after.before = before
    else this.#last = before
  }
}
