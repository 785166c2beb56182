import { ExcessMemory } from '../../accounts/limits/excess-memory.ts'
import type { RequestReservation } from '../../accounts/limits/request-memory.ts'
import { isAt } from '../../../lib/json/bytes.ts'
import type { ChatMeter } from './chat-meter.ts'
import { EventRewriter } from './event-rewriter.ts'
import type { ModelNames } from './rename-model.ts'
import { Splice } from './splice.ts'

const newline = 0x0a
const carriageReturn = 0x0d
const space = 0x20
const dataPrefix = Buffer.from('data:')
const nothing = Buffer.alloc(0)

// An event of a thousand tokens with the likeliest of each is a megabyte or two.
const maxLineBytes = 16 * 1024 * 1024
// The beginning of a usual event is no reason to break off its stream, whatever others have in memory.
const freeLineBytes = 64 * 1024

/**
 * An engine's stream of server-sent events with the client's name of the model, passed on line by line. All other bytes
 * stay. An event has one line of data, as engines write them.
 */
export class EventStream {
  readonly #rewriter: EventRewriter
  readonly #held: ExcessMemory
  /** The beginning of a line whose end has not come yet. */
  #rest: Buffer[] = []
  #restBytes = 0
  /** The data was left out: so is the empty line that ends the event. */
  #leavesOutEnd = false
  #isWithinEvent = false

  /** @param memory counts the bytes that wait for the end of a long line */
  constructor(names: ModelNames, meter: ChatMeter, memory: Pick<RequestReservation, 'add' | 'drop'>) {
    this.#rewriter = new EventRewriter(names, meter)
    this.#held = new ExcessMemory(memory, freeLineBytes)
  }

  /**
   * Takes a chunk of the engine's. Answers with the lines that are complete.
   *
   * @throws {Error} for a line that is too long, and what `memory` throws
   */
  pass(chunk: Buffer): Buffer {
    const end = chunk.lastIndexOf(newline) + 1
    const lines = end > 0 ? this.#takeRest(chunk.subarray(0, end)) : nothing
    this.#keep(chunk.subarray(end))
    return this.#rewriteLines(lines)
  }

  /** What is left when the engine has ended: a last line without an end. */
  end(): Buffer {
    return this.#rewriteLines(this.#takeRest(nothing))
  }

  /** Whether lines of an event were passed on whose end was not. */
  get isWithinEvent(): boolean {
    return this.#isWithinEvent
  }

  /** What was kept, and the end of it. */
  #takeRest(end: Buffer): Buffer {
    if (this.#restBytes === 0) return end
    const bytes = Buffer.concat([...this.#rest, end])
    this.#held.resize(0)
    this.#rest = []
    this.#restBytes = 0
    return bytes
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return
    if (this.#restBytes + bytes.length > maxLineBytes)
      throw new Error(`a line of an engine's events is longer than ${maxLineBytes} bytes`)
    this.#held.resize(this.#restBytes + bytes.length)
    this.#rest.push(bytes)
    this.#restBytes += bytes.length
  }

  #rewriteLines(bytes: Buffer): Buffer {
    if (bytes.length === 0) return nothing
    const splice = new Splice(bytes)
    for (let start = 0; start < bytes.length;) {
      const found = bytes.indexOf(newline, start)
      const end = found === -1 ? bytes.length : found + 1
      this.#rewriteLine(splice, start, end)
      start = end
    }
    return splice.join()
  }

  /** A line from `start` to `end`, with its end, if it has one. */
  #rewriteLine(splice: Splice, start: number, end: number): void {
    const { bytes } = splice
    const contentEnd = findContentEnd(bytes, start, end)
    const isLeftOutEnd = this.#leavesOutEnd && contentEnd === start
    this.#leavesOutEnd = false
    this.#isWithinEvent = contentEnd > start
    if (isLeftOutEnd) splice.replace(start, end, nothing)
    if (contentEnd - start < dataPrefix.length || !isAt(bytes, start, dataPrefix)) return
    const dataStart = start + dataPrefix.length + (bytes[start + dataPrefix.length] === space ? 1 : 0)
    if (this.#rewriter.rewrite(splice, dataStart, contentEnd)) return
    splice.replace(start, end, nothing)
    this.#leavesOutEnd = true
    this.#isWithinEvent = false
  }
}

/** Where a line's end begins. */
function findContentEnd(bytes: Buffer, start: number, end: number): number {
  const contentEnd = bytes[end - 1] === newline ? end - 1 : end
  return contentEnd > start && bytes[contentEnd - 1] === carriageReturn ? contentEnd - 1 : contentEnd
}
