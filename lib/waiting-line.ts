interface Node<T> {
  value: T
  before: Node<T> | undefined
  after: Node<T> | undefined
}

/**
 * Values in order of arrival, of which any can leave. Each step costs the same, however long the line is: the first value
 * of a Set is found behind the holes of those that left.
 */
export class WaitingLine<T> {
  #first: Node<T> | undefined
  #last: Node<T> | undefined

  get first(): T | undefined {
    return this.#first?.value
  }

  /** Puts a value at the end; the function that is returned takes it out, and is to be called once. */
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
