// Walks with its own loop, because it sees only a window of the text. scan.ts finds the ends of pieces, JSON.parse checks them.

import { isSpace, jsonBytes } from './bytes.ts'
import { maxParsedDepth } from './depth.ts'
import { scanValue, startScan } from './scan.ts'
import { decodeText, findTextStart, JsonError } from './parse.ts'
import { parseText } from './parse-text.ts'

const { space, quote, comma, colon, openBracket, closeBracket, openBrace, closeBrace } = jsonBytes

const firstWindowBytes = 1024 * 1024

/** How much a reader builds as values at once, and how much a text may contain in total. */
export interface ReaderLimits {
  pieceBytes: number
  pieceContainers: number
  pieceCommas: number
  /** The objects and arrays of the whole text. */
  totalContainers: number
}

/** A piece, or the whole text, exceeds the reader's limits. */
export class TooLarge extends Error {
  override name = 'TooLarge'
  readonly what: 'piece' | 'text'

  constructor(what: 'piece' | 'text') {
    super(`the ${what} is larger than the reader's limits`)
    this.what = what
  }
}

/** A value and its position in the bytes that were read. */
export interface JsonPiece {
  value: unknown
  start: number
  size: number
  /** Only such a value can contain unpaired surrogates. */
  hasSurrogates: boolean
}

/** Copies the next bytes of a source. @returns how many; 0 at the source's end */
export type ReadInto = (into: Uint8Array) => number

/**
 * Reads a JSON text of any size step by step. The caller walks into known objects and arrays and reads their content in
 * pieces, so that only one piece is in memory. It accepts what JSON.parse accepts.
 *
 * Every method throws JsonError for bytes that are not JSON in UTF-8 or nested too deeply, and TooLarge.
 */
export class JsonReader {
  readonly #readInto: ReadInto
  #window: Buffer
  /** The position in the text of the window's first byte. */
  #base = 0
  /** Positions in the window: of the next byte, and after the last byte. */
  #at = 0
  #end = 0
  #depth = 0
  readonly #limits: ReaderLimits
  #containers = 0

  constructor(readInto: ReadInto, limits: ReaderLimits, windowBytes = firstWindowBytes) {
    this.#readInto = readInto
    this.#limits = limits
    this.#window = Buffer.allocUnsafe(windowBytes)
    this.#skipByteOrderMark()
  }

  /** The kind of the next value. */
  next(): 'object' | 'array' | 'other' {
    const byte = this.#peek()
    if (byte === openBrace) return 'object'
    return byte === openBracket ? 'array' : 'other'
  }

  /** Walks through an object. `readMember` must read each member's value. */
  readObject(readMember: (key: string) => void): void {
    this.#readItems(openBrace, closeBrace, () => {
      if (this.#peek() !== quote) throw this.#notJson('expected a name in double quotes')
      const key = String(this.readPiece().value)
      this.#expect(colon)
      readMember(key)
    })
  }

  /** Walks through an array. `readItem` must read each item. */
  readArray(readItem: (index: number) => void): void {
    this.#readItems(openBracket, closeBracket, readItem)
  }

  /** Reads the whole next value. */
  readPiece(): JsonPiece {
    const first = this.#peek()
    const start = this.#base + this.#at
    const isPlain = first !== quote && first !== openBrace && first !== openBracket
    const at = isPlain ? this.#findPlainEnd() : this.#findEnd()
    const bytes = this.#window.subarray(start - this.#base, at)
    if (bytes.length > this.#limits.pieceBytes) throw new TooLarge('piece')
    this.#at = at
    const hasSurrogates = bytes.includes(String.raw`\ud`) || bytes.includes(String.raw`\uD`)
    return { value: parseText(decodeText(bytes), start), start, size: bytes.length, hasSurrogates }
  }

  /** Checks that only white space is left. */
  readEnd(): void {
    if (this.#peek() !== undefined) throw this.#notJson('unexpected text after the end of the value')
  }

  #readItems(open: number, close: number, readItem: (index: number) => void): void {
    this.#expect(open)
    if (++this.#depth > maxParsedDepth) throw tooDeep()
    this.#countContainers(1)
    if (this.#peek() === close) this.#at++
    else
      for (let index = 0, more = true; more; index++) {
        readItem(index)
        more = this.#peek() === comma
        this.#expect(more ? comma : close)
      }
    this.#depth--
  }

  #countContainers(count: number): void {
    this.#containers += count
    if (this.#containers > this.#limits.totalContainers) throw new TooLarge('text')
  }

  #expect(byte: number): void {
    if (this.#peek() !== byte) throw this.#notJson(`${String.fromCharCode(byte)} is missing`)
    this.#at++
  }

  /** The next byte that is not white space, without consuming it; undefined at the end. */
  #peek(): number | undefined {
    while (this.#at < this.#end || this.#fill(this.#at)) {
      const byte = this.#window[this.#at]!
      if (!isSpace(byte)) return byte
      this.#at++
    }
    return undefined
  }

  /** The position after the next text, object or array. Loads all of it into the window. */
  #findEnd(): number {
    const { pieceContainers, pieceCommas } = this.#limits
    const scan = startScan()
    for (;;) {
      const length = scanValue(scan, this.#window.subarray(this.#at, this.#end))
      if (this.#depth + scan.deepest > maxParsedDepth) throw tooDeep()
      if (scan.containers > pieceContainers || scan.commas > pieceCommas) throw new TooLarge('piece')
      if (length >= 0) {
        this.#countContainers(scan.containers)
        return this.#at + length
      }
      if (!this.#fill(this.#at)) throw this.#notJson('a string, list or object that starts here is not closed')
    }
  }

  /** The position after the next number or word. */
  #findPlainEnd(): number {
    for (let length = 0; ; length++) {
      if (this.#at + length >= this.#end && !this.#fill(this.#at)) return this.#end
      const byte = this.#window[this.#at + length]!
      if (byte <= space || byte === comma || byte === closeBracket || byte === closeBrace) return this.#at + length
    }
  }

  /** Reads more bytes and keeps those from `keep` on. Returns false at the end of the source. */
  #fill(keep: number): boolean {
    const kept = this.#end - keep
    if (kept > this.#limits.pieceBytes) throw new TooLarge('piece')
    if (kept > this.#window.length / 2) this.#grow()
    this.#window.copyWithin(0, keep, this.#end)
    this.#base += keep
    this.#at -= keep
    this.#end = kept
    const got = this.#readInto(this.#window.subarray(kept))
    this.#end += got
    return got > 0
  }

  #notJson(reason: string): JsonError {
    return new JsonError(`not valid JSON at byte ${this.#base + this.#at}: ${reason}`)
  }

  #grow(): void {
    const window = Buffer.allocUnsafe(2 * this.#window.length)
    this.#window.copy(window, 0, 0, this.#end)
    this.#window = window
  }

  #skipByteOrderMark(): void {
    while (this.#end < 3 && this.#fill(0));
    this.#at = findTextStart(this.#window.subarray(0, this.#end))
  }
}

function tooDeep(): JsonError {
  return new JsonError(`nested more than ${maxParsedDepth} levels deep`)
}
