import { HttpError, unprocessable } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import type { JsonDocument } from '../../../lib/json/document.ts'
import { estimateValueBytes, type JsonOutline } from '../../../lib/json/outline.ts'
import type { RequestReservation } from '../../accounts/limits/request-memory.ts'
import { parseBody } from '../../../lib/http/body.ts'

/** The largest chat, as received and as built from a response. A prompt of a million tokens is a few megabytes. */
export const chatLimitBytes = 16 * 1024 * 1024

// A chat of 10,000 messages with parts and tool calls has about 50,000 containers. A list of all ids of a vocabulary
// has 300,000 values.
const maxContainers = 100_000
const maxValues = 1_000_000

/** Parses chats. The memory of their values stays reserved until they are released. */
export class ChatReader {
  readonly #memory: RequestReservation
  #bytes = 0

  constructor(memory: RequestReservation) {
    this.#memory = memory
  }

  /**
   * @throws {HttpError} 413 for a text beyond the limit, 422 as `parseBody` does and for too many values, 429 and 503
   * if there is not enough memory
   */
  parse(bytes: Uint8Array): JsonDocument {
    if (bytes.length > chatLimitBytes)
      throw new HttpError(errors.body_too_large, `The chat is larger than ${chatLimitBytes} bytes.`)
    return parseBody(bytes, (outline) => this.#accept(bytes, outline))
  }

  #accept(bytes: Uint8Array, outline: JsonOutline): void {
    rejectManyValues(outline)
    const more = estimateValueBytes(bytes.length, outline)
    this.#memory.add(more)
    this.#bytes += more
  }

  /** Releases all values. */
  letGo(): void {
    this.#memory.drop(this.#bytes)
    this.#bytes = 0
  }
}

function rejectManyValues({ containers, commas }: JsonOutline): void {
  if (containers > maxContainers) throw tooMany('objects and lists', maxContainers, containers)
  if (commas > maxValues) throw tooMany('values', maxValues, commas)
}

function tooMany(what: string, limit: number, found: number) {
  const msg = `A chat should have at most ${limit} ${what} in all, not ${found}`
  return unprocessable({ loc: ['body'], msg, type: 'too_long' })
}
