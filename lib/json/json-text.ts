import { cleanJson } from './clean.ts'

/** A JSON value as text: exactly the bytes of the client, without white space around them. `null` is a value too. */
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

  /** Shares the memory of the source. */
  get bytes(): Buffer {
    return this.#source.subarray(this.start, this.end)
  }

  get size(): number {
    return this.end - this.start
  }

  /** The first character. It shows the value's type: `{`, `[`, `"`, `t`, `f`, `n`, `-` or a digit. */
  get first(): string {
    return String.fromCharCode(this.#source[this.start]!)
  }

  toString(): string {
    return this.#source.toString('utf8', this.start, this.end)
  }
}

/** Writes a value as text, cleaned of what Postgres cannot store. */
export function writeJsonText(value: unknown): JsonText {
  return new JsonText(cleanJson(Buffer.from(JSON.stringify(value))))
}
