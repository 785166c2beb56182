import { Transform, type TransformCallback } from 'node:stream'
import { AddressError, ResponseError } from './errors.ts'

/** A body that fails with a ResponseError if it exceeds its limit, or if its source breaks. */
export class LimitedBody extends Transform {
  readonly error: ResponseError
  #left: number

  constructor(maxBytes: number) {
    super()
    this.#left = maxBytes
    this.error = new ResponseError('too_large', `it is larger than ${maxBytes} bytes`)
  }

  override _transform(chunk: Uint8Array, _: BufferEncoding, done: TransformCallback): void {
    this.#left -= chunk.length
    if (this.#left < 0) done(this.error)
    else done(null, chunk)
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    done(error && toResponseError(error))
  }
}

/** Converts an error of a request, or of reading its body. */
export function toResponseError(error: unknown): Error {
  if (error instanceof AddressError || error instanceof ResponseError) return error
  return new ResponseError('unreachable', 'the server could not be reached, or closed the connection', { cause: error })
}
