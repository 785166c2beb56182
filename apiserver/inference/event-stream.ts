import { Transform, type TransformCallback } from 'node:stream'
import { ExcessMemory } from '../accounts/limits/excess-memory.ts'
import type { RequestReservation } from '../accounts/limits/request-memory.ts'

const newline = 0x0a
const carriageReturn = 0x0d
const dataPrefix = Buffer.from('data:')

// An event of a thousand tokens with the likeliest of each is a megabyte or two.
const maxLineBytes = 16 * 1024 * 1024
// The beginning of a usual event is no reason to break off its stream, whatever others have in memory.
const freeLineBytes = 64 * 1024

/** What becomes of an event's data; undefined leaves the event out. */
export type RewriteData = (data: Uint8Array) => Uint8Array | undefined

/**
 * A stream of server-sent events whose data goes through `rewrite`, passed on line by line. All other bytes stay. An event
 * has one line of data, as engines write them.
 */
export class EventStream extends Transform {
  readonly #rewrite: RewriteData
  readonly #held: ExcessMemory
  /** The beginning of a line whose end has not come yet. */
  #rest: Buffer[] = []
  #restBytes = 0
  /** The data was left out: so is the empty line that ends the event. */
  #leavesOutEnd = false

  /** @param memory counts the bytes that wait for the end of a long line */
  constructor(rewrite: RewriteData, memory: Pick<RequestReservation, 'add' | 'drop'>) {
    super()
    this.#rewrite = rewrite
    this.#held = new ExcessMemory(memory, freeLineBytes)
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    try {
      const end = chunk.lastIndexOf(newline) + 1
      const lines = end > 0 ? this.#takeRest(chunk.subarray(0, end)) : Buffer.alloc(0)
      this.#keep(chunk.subarray(end))
      this.#pass(lines, done)
    } catch (error) {
      done(error instanceof Error ? error : new Error('an event was not passed on', { cause: error }))
    }
  }

  override _flush(done: TransformCallback): void {
    this.#pass(this.#takeRest(Buffer.alloc(0)), done)
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

  /** @throws {Error} for a line that is too long, and what `memory` throws */
  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return
    if (this.#restBytes + bytes.length > maxLineBytes)
      throw new Error(`a line of an engine's events is longer than ${maxLineBytes} bytes`)
    this.#held.resize(this.#restBytes + bytes.length)
    this.#rest.push(bytes)
    this.#restBytes += bytes.length
  }

  #pass(bytes: Buffer, done: TransformCallback): void {
    const rewritten = this.#rewriteLines(bytes)
    done(null, rewritten.length > 0 ? rewritten : undefined)
  }

  #rewriteLines(bytes: Buffer): Buffer {
    const lines: Uint8Array[] = []
    for (let start = 0; start < bytes.length;) {
      const found = bytes.indexOf(newline, start)
      const end = found === -1 ? bytes.length : found + 1
      lines.push(...this.#rewriteLine(bytes.subarray(start, end)))
      start = end
    }
    return Buffer.concat(lines)
  }

  /** @param line with its end, if it has one */
  #rewriteLine(line: Buffer): Uint8Array[] {
    const end = findLineEnd(line)
    const isLeftOutEnd = this.#leavesOutEnd && end === 0
    this.#leavesOutEnd = false
    if (isLeftOutEnd) return []
    if (!line.subarray(0, dataPrefix.length).equals(dataPrefix)) return [line]
    const space = line[dataPrefix.length] === 0x20 ? 1 : 0
    const start = dataPrefix.length + space
    const data = this.#rewrite(line.subarray(start, end))
    if (data) return [line.subarray(0, start), data, line.subarray(end)]
    this.#leavesOutEnd = true
    return []
  }
}

function findLineEnd(line: Buffer): number {
  const end = line.at(-1) === newline ? line.length - 1 : line.length
  return line[end - 1] === carriageReturn ? end - 1 : end
}
