import { HttpError } from '../../../lib/http/http-error.ts'
import type { OpenAnswer } from '../../../lib/http/api.ts'
import { errors } from '../../errors/table.ts'
import type { RequestContext } from '../context.ts'
import type { RequestMemory, RequestReservation } from './request-memory.ts'

const mib = 1024 * 1024

/** An answer is read from at most so many bytes, and consists of at most so many. */
export const maxAnswerBytes = 64 * mib
// What is read, the text of the answer, and the bytes that are sent.
const copies = 3
// A small answer takes no memory of its entity's share, or a slow client with one would keep others from large ones.
const freeBytes = mib / 4
const stepBytes = mib / 4

/** Reserves the memory of an answer while it is read and put together. */
export class AnswerMemory implements OpenAnswer {
  readonly #open: () => RequestReservation
  #isOpen = true
  #read = 0
  #written = 0
  #room = freeBytes

  constructor(open: () => RequestReservation) {
    this.#open = open
  }

  /** @throws {HttpError} 422 if they are too many for one answer; 413, 429 or 503 if there is not enough memory */
  read(bytes: number): void {
    this.#read += bytes
    this.#grow(this.#read)
  }

  /** @throws {HttpError} as `read` does */
  write(bytes: number): void {
    this.#written += bytes
    this.#grow(this.#written)
  }

  /** From then on nothing counts: what is read later is for a stream, which is sent in parts. */
  close(): void {
    this.#isOpen = false
  }

  #grow(bytes: number): void {
    if (!this.#isOpen || bytes <= this.#room) return
    if (bytes > maxAnswerBytes) {
      const detail = `The answer would be made of more than ${maxAnswerBytes} bytes. Request fewer items, fields or lines at once.`
      throw new HttpError(errors.answer_too_large, detail)
    }
    const room = Math.min(maxAnswerBytes, Math.ceil(bytes / stepBytes) * stepBytes)
    const held = this.#open()
    try {
      held.add(copies * (room - this.#room))
      this.#room = room
    } catch (error) {
      // Of several large answers that grow at once, the last one then has room.
      held.drop(copies * (this.#room - freeBytes))
      this.#room = freeBytes
      throw error
    }
  }
}

/** Opens the answer of each request. */
export function openAnswers(memory: RequestMemory): (ctx: RequestContext) => OpenAnswer {
  return (ctx) => new AnswerMemory(() => memory.open(ctx))
}
