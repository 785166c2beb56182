import { HttpError } from './http-error.ts'
import { bodyTooLarge, linger, openTransfer, rejectOtherContent } from './body.ts'
import { httpErrors } from './errors.ts'
import type { Exchange } from './exchange.ts'

// The memory of larger bodies grows as they arrive, because announcing a length costs the sender nothing.
const maxAllocatedBytes = 256 * 1024

/** Reserves the memory of bodies. */
export interface BodyMemory {
  /** @throws if there is no room */
  add(bytes: number): void
  drop(bytes: number): void
}

/** How a body is received. */
export interface BodyOptions {
  limitBytes: number
  /** Extra bytes behind the body, so that the caller can change it in place. */
  slackBytes: number
  memory: BodyMemory
}

/** A body in a buffer with room behind it. The whole buffer is reserved. */
export interface ReceivedBody {
  room: Buffer
  /** The body, at the start of the room. */
  bytes: Buffer
}

/**
 * Receives a request's JSON body into one buffer.
 *
 * @throws {HttpError} as `openBody` does, 400 if the client leaves before the end, and what `memory.add` throws; then
 * nothing stays reserved
 */
export async function receiveBody(exchange: Exchange, options: BodyOptions): Promise<ReceivedBody> {
  const announced = readLength(exchange)
  const gathering = new Gathering(announced, options)
  try {
    rejectOtherContent(exchange)
    openTransfer(exchange, announced ?? 0, options.limitBytes)
    await gather(exchange, gathering)
    return gathering.finish()
  } catch (error) {
    gathering.abandon()
    linger(exchange)
    throw error
  }
}

function readLength(exchange: Exchange): number | undefined {
  const header = exchange.get('Content-Length')
  return header === '' ? undefined : Number(header)
}

function gather({ req, client }: Exchange, gathering: Gathering): Promise<void> {
  return new Promise((resolve, reject) => {
    req.on('data', (chunk: Buffer) => {
      try {
        gathering.add(chunk)
      } catch (error) {
        req.pause()
        req.removeAllListeners('data')
        reject(error instanceof Error ? error : new Error('a body was not received', { cause: error }))
      }
    })
    req.once('end', resolve)
    client.whenLeft(() => reject(new HttpError(httpErrors.truncated_body)))
  })
}

/** The received bytes of a body. */
class Gathering {
  readonly #announced: number | undefined
  readonly #options: BodyOptions
  #room: Buffer | undefined
  #chunks: Buffer[] = []
  #size = 0
  #reserved = 0

  constructor(announced: number | undefined, options: BodyOptions) {
    this.#announced = announced
    this.#options = options
  }

  add(chunk: Buffer): void {
    const size = this.#size + chunk.length
    if (size > this.#options.limitBytes) throw bodyTooLarge(this.#options.limitBytes)
    if (this.#size === 0) this.#room = this.#allocate()
    if (this.#room) chunk.copy(this.#room, this.#size)
    else {
      this.#reserve(chunk.length)
      this.#chunks.push(chunk)
    }
    this.#size = size
  }

  finish(): ReceivedBody {
    const room = this.#room ?? this.#join()
    return { room, bytes: room.subarray(0, this.#size) }
  }

  abandon(): void {
    this.#options.memory.drop(this.#reserved)
    this.#reserved = 0
  }

  /** Allocates room for the whole body, unless its length is unknown or large. */
  #allocate(): Buffer | undefined {
    if (this.#announced === undefined || this.#announced > maxAllocatedBytes) return undefined
    const bytes = this.#announced + this.#options.slackBytes
    this.#reserve(bytes)
    return Buffer.allocUnsafe(bytes)
  }

  #join(): Buffer {
    this.#reserve(this.#options.slackBytes)
    const chunks = this.#chunks
    this.#chunks = []
    const room = Buffer.allocUnsafe(this.#size + this.#options.slackBytes)
    let at = 0
    for (const chunk of chunks) at += chunk.copy(room, at)
    return room
  }

  #reserve(bytes: number): void {
    this.#options.memory.add(bytes)
    this.#reserved += bytes
  }
}
