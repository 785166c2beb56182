import { Transform, type TransformCallback } from 'node:stream'
import { AddressRefused, AnswerFault } from './refused.ts'

/** A body that fails, always with a fault of ours, once it is longer than was agreed or its source breaks. */
export class LimitedBody extends Transform {
  readonly fault: AnswerFault
  #left: number

  constructor(maxBytes: number) {
    super()
    this.#left = maxBytes
    this.fault = new AnswerFault('too_large', `it is larger than ${maxBytes} bytes`)
  }

  override _transform(chunk: Uint8Array, _: BufferEncoding, done: TransformCallback): void {
    this.#left -= chunk.length
    if (this.#left < 0) done(this.fault)
    else done(null, chunk)
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    done(error && toFault(error))
  }
}

/** What is told of an error while asking or reading. */
export function toFault(error: unknown): Error {
  if (error instanceof AddressRefused || error instanceof AnswerFault) return error
  return new AnswerFault('unreachable', 'the server could not be reached, or closed the connection', { cause: error })
}
