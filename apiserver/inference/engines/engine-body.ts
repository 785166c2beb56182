// An engine that closes a connection just when it is used again is noticed sooner. A later failure is an error of the
// request.
const defaultKeepMs = 2_000
// To follow how a small body is sent costs more than it saves.
const maxUnfollowedBytes = 128 * 1024

/**
 * The body of a request to an engine. A large one is let go soon after an engine has it, because a reply may take many
 * minutes: from then on no other engine can be asked.
 */
export class EngineBody {
  readonly #keepMs: number
  #kept: { bytes: Buffer; letGo: () => void } | undefined
  #timer: NodeJS.Timeout | undefined

  /** @param letGo is called once, when the bytes are not held any more */
  constructor(bytes: Buffer, letGo: () => void, keepMs = defaultKeepMs) {
    this.#kept = { bytes, letGo }
    this.#keepMs = keepMs
  }

  get isKept(): boolean {
    return this.#kept !== undefined
  }

  /** The bytes, for one engine. */
  open(): Buffer {
    if (!this.#kept) throw new Error('the body of a request was let go already')
    return this.#kept.bytes
  }

  /** To be called when they are sent; undefined where nobody needs to know. */
  get onSent(): (() => void) | undefined {
    if (!this.#kept || this.#kept.bytes.length <= maxUnfollowedBytes) return undefined
    return () => {
      this.#timer ??= setTimeout(() => this.letGo(), this.#keepMs).unref()
    }
  }

  /** Nobody needs them any more: an engine has begun to answer. */
  letGo(): void {
    clearTimeout(this.#timer)
    this.#kept?.letGo()
    this.#kept = undefined
  }
}
