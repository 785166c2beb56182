/** Watches the client of a request: whether it has left before it got its whole answer, or may not get the rest. */
export class ClientWatch {
  readonly #left = new AbortController()
  #isOver = false
  #callbacks: (() => void)[] = []

  get hasLeft(): boolean {
    return this.#left.signal.aborted
  }

  /** Aborted when the client leaves. */
  get signal(): AbortSignal {
    return this.#left.signal
  }

  /** Calls back once when the answer is sent or the client has left, or at once if that has happened. */
  whenOver(callback: () => void): void {
    if (this.#isOver) callback()
    else this.#callbacks.push(callback)
  }

  /** The client has left. */
  leave(): void {
    if (this.#isOver) return
    this.#left.abort()
    this.end()
  }

  /** The answer is sent. */
  end(): void {
    this.#isOver = true
    const callbacks = this.#callbacks
    this.#callbacks = []
    for (const callback of callbacks) callback()
  }
}
