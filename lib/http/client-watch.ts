/** Tells that a client has left before it had its whole answer, or may no longer have it. */
export class ClientWatch {
  #hasLeft = false
  #callbacks: (() => void)[] = []
  #controller: AbortController | undefined

  get hasLeft(): boolean {
    return this.#hasLeft
  }

  /** For what takes signals. It is made when it is first asked for, because most requests need none. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      const controller = new AbortController()
      this.#controller = controller
      this.whenLeft(() => controller.abort())
    }
    return this.#controller.signal
  }

  /** Calls back once, when the client leaves; at once when it has left. */
  whenLeft(callback: () => void): void {
    if (this.#hasLeft) callback()
    else this.#callbacks.push(callback)
  }

  leave(): void {
    if (this.#hasLeft) return
    this.#hasLeft = true
    const callbacks = this.#callbacks
    this.#callbacks = []
    for (const callback of callbacks) callback()
  }
}
