/** A JSON value as its text: exactly the bytes that a client wrote, without white space around them. A `null` is one too. */
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

  /** The first character, which tells what it is: `{`, `[`, `"`, `t`, `f`, `n`, `-` or a digit. */
  get first(): string {
    return String.fromCharCode(this.#source[this.start]!)
  }

  toString(): string {
    return this.#source.toString('utf8', this.start, this.end)
  }
}
