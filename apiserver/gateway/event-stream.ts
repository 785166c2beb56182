import { Transform, type TransformCallback } from 'node:stream'

const newline = 0x0a
const carriageReturn = 0x0d
const dataPrefix = Buffer.from('data:')

/** What becomes of an event's data; undefined leaves the event out. */
export type RewriteData = (data: Uint8Array) => Uint8Array | undefined

/**
 * A stream of server-sent events whose data goes through `rewrite`, passed on line by line. All other bytes stay. An event
 * has one line of data, as engines write them.
 */
export class EventStream extends Transform {
  readonly #rewrite: RewriteData
  #rest: Buffer = Buffer.alloc(0)
  /** The data was left out: so is the empty line that ends the event. */
  #leavesOutEnd = false

  constructor(rewrite: RewriteData) {
    super()
    this.#rewrite = rewrite
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    const bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk
    const end = bytes.lastIndexOf(newline) + 1
    this.#rest = bytes.subarray(end)
    this.#pass(bytes.subarray(0, end), done)
  }

  override _flush(done: TransformCallback): void {
    this.#pass(this.#rest, done)
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
