import { cleanJson } from './clean.ts'

/** A JSON value as its text: exactly the bytes that a client wrote, without white space around them. `null` is a value too. */
export class JsonText {
  readonly #source: Buffer
  readonly start: number
  readonly end: number

  /** The part of `source` from `start` to before `end`; all of it by default. It must be one valid JSON value. */
  constructor(source: Buffer, start = 0, end = source.length) {
    this.#source = source
    this.start = start
    this.end = end
  }

  /** The same memory as the source, so no copy. */
  get bytes(): Buffer {
    return this.#source.subarray(this.start, this.end)
  }

  get size(): number {
    return this.end - this.start
  }

  /** The first character, which says what kind of value it is: `{`, `[`, `"`, `t`, `f`, `n`, `-` or a digit. */
  get first(): string {
    return String.fromCharCode(this.#source[this.start]!)
  }

  toString(): string {
    return this.#source.toString('utf8', this.start, this.end)
  }
}

/** The text of a value, cleaned of what Postgres cannot store. */
export function writeJsonText(value: unknown): JsonText {
  return new JsonText(cleanJson(Buffer.from(JSON.stringify(value))))
}
