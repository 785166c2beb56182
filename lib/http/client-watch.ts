/** Detects that a client has left before it got its whole answer, or that it may not get the rest. */
export class ClientWatch {
  #hasLeft = false
  #callbacks: (() => void)[] = []
  #controller: AbortController | undefined

  get hasLeft(): boolean {
    return this.#hasLeft
  }

  /** Created on first use, because most requests need no signal. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      const controller = new AbortController()
      this.#controller = controller
      this.whenLeft(() => controller.abort())
    }
    return this.#controller.signal
  }

  /** Calls back once when the client leaves, or at once if it has left. */
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
