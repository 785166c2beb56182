import { maxDepth } from './depth.ts'
import { notJson, skipNumber, skipText, skipWord } from './skip.ts'

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d
const space = 0x20
const zero = 0x30
const nine = 0x39
const minus = 0x2d

/** The text goes deeper than values are kept. */
export class TooDeep extends Error {
  override name = 'TooDeep'
}

/** Goes through a JSON text in UTF-8 without building values, and takes what JSON.parse takes. Every method throws JsonError. */
export class JsonScanner {
  readonly bytes: Buffer
  at: number
  /** How many objects and arrays there were. */
  containers = 0
  #depth = 0
  /** What closes each open object or array. */
  readonly #closers = new Uint8Array(maxDepth + 1)

  constructor(bytes: Buffer, at = 0) {
    this.bytes = bytes
    this.at = at
  }

  /** The next byte that is no white space, left where it is; undefined at the end. */
  peek(): number | undefined {
    let byte = this.bytes[this.at]
    while (byte !== undefined && byte <= space && isSpace(byte)) byte = this.bytes[++this.at]
    return byte
  }

  expect(byte: number): void {
    if (this.peek() !== byte) throw notJson()
    this.at++
  }

  /** Goes into the object or array that comes next. */
  open(): void {
    const closer = this.bytes[this.at++] === openBrace ? closeBrace : closeBracket
    if (++this.#depth > maxDepth) throw new TooDeep()
    this.containers++
    this.#closers[this.#depth] = closer
  }

  /** Goes out of the object or array when it ends here. */
  close(): boolean {
    if (this.peek() !== this.#closers[this.#depth]) return false
    this.#depth--
    this.at++
    return true
  }

  /** Goes behind the next item's comma, or out of the object or array. */
  hasMore(): boolean {
    if (this.close()) return false
    this.expect(comma)
    return true
  }

  /** Goes over the key that comes next and its colon; the key's text is between `at` before and the answer, both quotes with it. */
  skipKey(): number {
    this.expect(quote)
    this.at = skipText(this.bytes, this.at)
    const end = this.at
    this.expect(colon)
    return end
  }

  /** Goes over the value that comes next. */
  skipValue(): void {
    const outside = this.#depth
    for (let more = true; more;) {
      this.#skipStart()
      more = false
      while (this.#depth > outside && !more) more = this.hasMore()
      if (more && this.#closers[this.#depth] === closeBrace) this.skipKey()
    }
  }

  /** Goes over a text, number or word, an empty object or array, or into an object or array as far as its first value. */
  #skipStart(): void {
    let byte = this.peek()
    while (byte === openBrace || byte === openBracket) {
      this.open()
      if (this.close()) return
      if (byte === openBrace) this.skipKey()
      byte = this.peek()
    }
    this.#skipPlain(byte)
  }

  #skipPlain(byte: number | undefined): void {
    if (byte === undefined) throw notJson()
    if (byte === quote) this.at = skipText(this.bytes, this.at + 1)
    else if (byte === minus || (byte >= zero && byte <= nine)) this.at = skipNumber(this.bytes, this.at)
    else this.at = skipWord(this.bytes, this.at)
  }
}

function isSpace(byte: number): boolean {
  return byte === space || byte === 0x0a || byte === 0x0d || byte === 0x09
}
