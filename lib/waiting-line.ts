interface Place<T> {
  value: T
  before: Place<T> | undefined
  after: Place<T> | undefined
}

/** Values in order of arrival, of which any can leave: each step costs the same, however long the line is. */
export class WaitingLine<T> {
  #first: Place<T> | undefined
  #last: Place<T> | undefined

  get first(): T | undefined {
    return this.#first?.value
  }

  /** Puts a value at the end; the function that is returned takes it out, and is to be called once. */
  push(value: T): () => void {
    const place: Place<T> = { value, before: this.#last, after: undefined }
    if (this.#last) this.#last.after = place
    else this.#first = place
    this.#last = place
    return () => this.#remove(place)
  }

  #remove({ before, after }: Place<T>): void {
    if (before) before.after = after
    else this.#first = after
    if (after) after.before = before
    else this.#last = before
  }
}
