// If an engine closes an idle connection at the moment of its reuse, the failure is noticed within this time. A later
// failure is an error of the request.
const defaultKeepMs = 2_000
// For a small body, tracking when it is sent costs more than it saves.
const maxUnfollowedBytes = 128 * 1024

/**
 * The body of a request to an engine. A large body is released soon after an engine has received it, because a reply
 * may take many minutes. After that, the request cannot be sent to another engine.
 */
export class EngineBody {
  readonly #keepMs: number
  #kept: { bytes: Buffer; letGo: () => void } | undefined
  #timer: NodeJS.Timeout | undefined

  /** @param letGo is called once, when the bytes are released */
  constructor(bytes: Buffer, letGo: () => void, keepMs = defaultKeepMs) {
    this.#kept = { bytes, letGo }
    this.#keepMs = keepMs
  }

  get isKept(): boolean {
    return this.#kept !== undefined
  }

  /** The bytes, to send them to one engine. */
  open(): Buffer {
    if (!this.#kept) throw new Error('the body of a request was let go already')
    return this.#kept.bytes
  }

  /** The callback for the moment when the bytes are sent. Undefined if that need not be tracked. */
  get onSent(): (() => void) | undefined {
    if (!this.#kept || this.#kept.bytes.length <= maxUnfollowedBytes) return undefined
    return () => {
      this.#timer ??= setTimeout(() => this.letGo(), this.#keepMs).unref()
    }
  }

  /** Releases the bytes, because an engine has begun to answer. */
  letGo(): void {
    clearTimeout(this.#timer)
    this.#kept?.letGo()
    this.#kept = undefined
  }
}
