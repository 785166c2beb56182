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

// An event with a thousand tokens and the most likely alternatives of each has one or two megabytes.
const maxLineBytes = 16 * 1024 * 1024
// A stream must not fail because of the beginning of an ordinary event, however much memory other requests use.
const freeLineBytes = 64 * 1024

/**
 * Rewrites an engine's stream of server-sent events with the client's name of the model. It passes whole lines on, and
 * leaves all other bytes unchanged. Each event has one line of data, as engines write it.
 */
export class EventStream {
  readonly #rewriter: EventRewriter
  readonly #held: ExcessMemory
  /** The beginning of a line whose end has not arrived yet. */
  #rest: Buffer[] = []
  #restBytes = 0
  /** The last line of data was left out. The empty line that ends the event is left out too. */
  #leavesOutEnd = false
  #isWithinEvent = false

  /** @param memory counts the bytes of an incomplete long line */
  constructor(names: ModelNames, meter: ChatMeter, memory: Pick<RequestReservation, 'add' | 'drop'>) {
    this.#rewriter = new EventRewriter(names, meter)
    this.#held = new ExcessMemory(memory, freeLineBytes)
  }

  /**
   * Adds a chunk of the engine's reply. Returns the lines that are complete.
   *
   * @throws {Error} for a line that is too long, and what `memory` throws
   */
  pass(chunk: Buffer): Splice {
    const end = chunk.lastIndexOf(newline) + 1
    const lines = end > 0 ? this.#takeRest(chunk.subarray(0, end)) : nothing
    this.#keep(chunk.subarray(end))
    return this.#rewriteLines(lines)
  }

  /** Returns the last line if it has no line end, when the engine's reply has ended. */
  end(): Splice {
    return this.#rewriteLines(this.#takeRest(nothing))
  }

  /** Whether some lines of an event were passed on, but not its end. */
  get isWithinEvent(): boolean {
    return this.#isWithinEvent
  }

  /** Returns the incomplete line together with the bytes that end it. */
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

  #rewriteLines(bytes: Buffer): Splice {
    const splice = new Splice(bytes)
    for (let start = 0; start < bytes.length;) {
      const found = bytes.indexOf(newline, start)
      const end = found === -1 ? bytes.length : found + 1
      this.#rewriteLine(splice, start, end)
      start = end
    }
    return splice
  }

  /** Rewrites the line from `start` to `end`. The range includes the line end, if there is one. */
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

/** Returns where the line end begins. */
function findContentEnd(bytes: Buffer, start: number, end: number): number {
  const contentEnd = bytes[end - 1] === newline ? end - 1 : end
  return contentEnd > start && bytes[contentEnd - 1] === carriageReturn ? contentEnd - 1 : contentEnd
}
