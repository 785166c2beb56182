// An engine that closes a connection just when it is used again is noticed sooner. A later failure is an error of the
// request.
const defaultKeepMs = 2_000

/**
 * The body of a request to an engine. It is let go soon after an engine has it, because a reply may take many minutes: from
 * then on no other engine can be asked.
 */
export class EngineBody {
  readonly size: number
  readonly #keepMs: number
  #kept: { bytes: Buffer; letGo: () => void } | undefined
  #timer: NodeJS.Timeout | undefined

  /** @param letGo is called once, when the bytes are not held any more */
  constructor(bytes: Buffer, letGo: () => void, keepMs = defaultKeepMs) {
    this.size = bytes.length
    this.#kept = { bytes, letGo }
    this.#keepMs = keepMs
  }

  get isKept(): boolean {
    return this.#kept !== undefined
  }

  /** The bytes, for one engine. The sender asks for more when they are sent. */
  async *send(): AsyncGenerator<Buffer> {
    if (!this.#kept) throw new Error('the body of a request was let go already')
    yield this.#kept.bytes
    this.#timer ??= setTimeout(() => this.letGo(), this.#keepMs).unref()
  }

  /** Nobody needs them any more: an engine has answered. */
  letGo(): void {
    clearTimeout(this.#timer)
    this.#kept?.letGo()
    this.#kept = undefined
  }
}
