import { finished, Readable } from 'node:stream'

// A chunk of a socket has 64 KiB. With room for only one, its reader would stop and start for each.
const highWaterMark = 256 * 1024

export interface TapOptions {
  /** Gets each chunk before the reader does. An error that it throws ends the stream. */
  observe: (chunk: Uint8Array) => void
  /** The source stays open when the reader stops. Otherwise it is destroyed. */
  keepSource?: boolean
}

/**
 * The bytes of a stream, as they are read. An async generator would do the same, but its promises cost more processor time
 * than copying the bytes.
 */
export function tapStream(source: Readable, { observe, keepSource = false }: TapOptions): Readable {
  return new Tap(source, observe, keepSource)
}

class Tap extends Readable {
  readonly #source: Readable
  readonly #observe: (chunk: Uint8Array) => void
  readonly #keepSource: boolean
  #stopWatching: (() => void) | undefined

  constructor(source: Readable, observe: (chunk: Uint8Array) => void, keepSource: boolean) {
    super({ highWaterMark })
    this.#source = source
    this.#observe = observe
    this.#keepSource = keepSource
  }

  override _read(): void {
    this.#stopWatching ??= this.#watch()
    this.#source.resume()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#stopWatching?.()
    this.#source.pause()
    if (!this.#keepSource) this.#source.destroy()
    done(error)
  }

  #watch(): () => void {
    const source = this.#source
    const forward = (chunk: Uint8Array) => this.#forward(chunk)
    source.on('data', forward)
    const forget = finished(source, { writable: false }, (error) => {
      if (error) this.destroy(error)
      else this.push(null)
    })
    return () => {
      source.off('data', forward)
      forget()
    }
  }

  #forward(chunk: Uint8Array): void {
    try {
      this.#observe(chunk)
    } catch (error) {
      this.destroy(error as Error)
      return
    }
    if (!this.push(chunk)) this.#source.pause()
  }
}
