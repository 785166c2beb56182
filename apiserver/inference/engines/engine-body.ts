import { Readable } from 'node:stream'

// If an engine closes an idle connection at the moment of its reuse, the failure is noticed within this time. A later
// failure is an error of the request.
const defaultKeepMs = 2_000
// A larger body is sent in parts, so that it is known when an engine has received it.
const partBytes = 128 * 1024

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

  /** The length of its bytes. */
  get length(): number {
    return this.#bytes.length
  }

  /** The bytes, to send them to one engine. */
  open(): Buffer | Readable {
    const bytes = this.#bytes
    return bytes.length > partBytes ? Readable.from(this.#sendParts(bytes), { highWaterMark: 1 }) : bytes
  }

  get #bytes(): Buffer {
    if (!this.#kept) throw new Error('the body of a request was let go already')
    return this.#kept.bytes
  }

  /** The next part is requested when the operating system has accepted the one before. */
  async *#sendParts(bytes: Buffer): AsyncGenerator<Buffer> {
    for (let at = 0; at < bytes.length; at += partBytes) yield bytes.subarray(at, at + partBytes)
    this.#timer ??= setTimeout(() => this.letGo(), this.#keepMs).unref()
  }

  /** Releases the bytes, because an engine has begun to answer. */
  letGo(): void {
    clearTimeout(this.#timer)
    this.#kept?.letGo()
    this.#kept = undefined
  }
}
