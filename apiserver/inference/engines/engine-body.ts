import { Readable } from 'node:stream'
import type { EngineResponse } from './engine-response.ts'

// An engine that closes a connection just when it is used again is noticed sooner. A later failure is an error of the
// request.
const defaultKeepMs = 2_000
// The client of the engines holds a buffer until the reply is complete, which may take many minutes. It holds no chunk of
// a stream, but a stream costs more than it saves for a small body.
const maxBufferBytes = 128 * 1024

/**
 * The body of a request to an engine. A large one is let go soon after an engine has it, because a reply may take many
 * minutes: from then on no other engine can be asked.
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

  /** The bytes, for one engine. */
  open(): Buffer | Readable {
    if (!this.#kept) throw new Error('the body of a request was let go already')
    const { bytes } = this.#kept
    return bytes.length <= maxBufferBytes ? bytes : Readable.from(this.#send(), { objectMode: false })
  }

  /** The sender asks for more when they are sent. */
  async *#send(): AsyncGenerator<Buffer> {
    if (!this.#kept) throw new Error('the body of a request was let go already')
    yield this.#kept.bytes
    this.#timer ??= setTimeout(() => this.letGo(), this.#keepMs).unref()
  }

  /** Nobody needs them any more: an engine has begun to answer. What its client still holds is let go when it is through. */
  letGoAfter(response: Pick<EngineResponse, 'whenOver'>): void {
    if (this.size > maxBufferBytes) this.letGo()
    else response.whenOver(() => this.letGo())
  }

  letGo(): void {
    clearTimeout(this.#timer)
    this.#kept?.letGo()
    this.#kept = undefined
  }
}
