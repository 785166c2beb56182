import { scanValue, startScan } from './scan-value.ts'
import { decodeText, findTextStart, JsonError, maxDepth, parseText } from './text.ts'

const space = 0x20
const newline = 0x0a
const carriageReturn = 0x0d
const tab = 0x09
const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

const firstWindowBytes = 1024 * 1024

// What is parsed at once is in memory as values: of this many bytes, objects and commas that is some hundreds of MB, and
// a trajectory of 32 thousand tokens with the 20 likeliest of each still fits.
const maxPieceBytes = 64 * 1024 * 1024
const maxContainers = 3_000_000
const maxCommas = 8_000_000
// Of the whole text, for whoever reads it next. 32 groups of 16 rollouts of 2,000 tokens have 3 million, and 256 MiB of
// nothing but likeliest tokens 8 million: a token that is told takes some 65 bytes, and two of these.
const maxTotalContainers = 20_000_000

/** A value too large to be looked at in one piece, or a text of too many; the message names the limit. */
export class PieceTooLarge extends Error {
  override name = 'PieceTooLarge'
}

/** A value with its place among the bytes that were read. */
export interface JsonPiece {
  value: unknown
  start: number
  size: number
  /** It may hold texts that are no Unicode: nothing else can. */
  hasSurrogates: boolean
}

/** Fills bytes in from a source; 0 at its end. */
export type ReadInto = (into: Uint8Array) => number

/**
 * Reads a JSON text of any size step by step: the caller walks into the objects and arrays that it knows and takes what is
 * in them in pieces, so that no more than one piece is in memory. What is accepted is what JSON.parse accepts.
 *
 * Every method throws JsonError for what is not JSON in UTF-8 or nested too deeply, and PieceTooLarge.
 */
export class JsonReader {
  readonly #readInto: ReadInto
  #window: Buffer
  /** Position in the text of the window's first byte. */
  #base = 0
  /** Positions in the window: of the next byte, and behind the last. */
  #at = 0
  #end = 0
  #depth = 0
  /** Of objects and arrays that the text may still have. */
  #containersLeft: number

  constructor(readInto: ReadInto, windowBytes = firstWindowBytes, maxAll = maxTotalContainers) {
    this.#readInto = readInto
    this.#window = Buffer.allocUnsafe(windowBytes)
    this.#containersLeft = maxAll
    this.#skipByteOrderMark()
  }

  /** What comes next. */
  next(): 'object' | 'array' | 'other' {
    const byte = this.#peek()
    if (byte === openBrace) return 'object'
    return byte === openBracket ? 'array' : 'other'
  }

  /** Walks through an object; `readMember` must read each member's value. */
  readObject(readMember: (key: string) => void): void {
    this.#readItems(openBrace, closeBrace, () => {
      if (this.#peek() !== quote) throw this.#notJson('a name in double quotes is missing')
      const key = String(this.readPiece().value)
      this.#expect(colon)
      readMember(key)
    })
  }

  /** Walks through an array; `readItem` must read each item. */
  readArray(readItem: (index: number) => void): void {
    this.#readItems(openBracket, closeBracket, readItem)
  }

  /** Reads the next value whole. */
  readPiece(): JsonPiece {
    const first = this.#peek()
    const start = this.#base + this.#at
    const isPlain = first !== quote && first !== openBrace && first !== openBracket
    const at = isPlain ? this.#findPlainEnd() : this.#findEnd()
    const bytes = this.#window.subarray(start - this.#base, at)
    if (bytes.length > maxPieceBytes) throw pieceTooLarge()
    this.#at = at
    const hasSurrogates = bytes.includes(String.raw`\ud`) || bytes.includes(String.raw`\uD`)
    return { value: parseText(decodeText(bytes), start), start, size: bytes.length, hasSurrogates }
  }

  /** Nothing but white space may be left. */
  readEnd(): void {
    if (this.#peek() !== undefined) throw this.#notJson('the text goes on behind its end')
  }

  #readItems(open: number, close: number, readItem: (index: number) => void): void {
    this.#expect(open)
    if (++this.#depth > maxDepth) throw tooDeep()
    this.#takeContainers(1)
    if (this.#peek() === close) this.#at++
    else
      for (let index = 0, more = true; more; index++) {
        readItem(index)
        more = this.#peek() === comma
        this.#expect(more ? comma : close)
      }
    this.#depth--
  }

  #takeContainers(count: number): void {
    this.#containersLeft -= count
    if (this.#containersLeft < 0) throw new PieceTooLarge(tooManyContainers)
  }

  #expect(byte: number): void {
    if (this.#peek() !== byte) throw this.#notJson(`${String.fromCharCode(byte)} is missing`)
    this.#at++
  }

  /** The next byte that is no white space, left where it is; undefined at the end. */
  #peek(): number | undefined {
    while (this.#at < this.#end || this.#fill(this.#at)) {
      const byte = this.#window[this.#at]
      if (byte !== space && byte !== newline && byte !== carriageReturn && byte !== tab) return byte
      this.#at++
    }
    return undefined
  }

  /** Position behind the text, object or array that comes next; all of it is in the window then. */
  #findEnd(): number {
    const scan = startScan()
    for (let from = this.#at; ;) {
      const end = scanValue(scan, this.#window, from, this.#end)
      if (this.#depth + scan.deepest > maxDepth) throw tooDeep()
      if (scan.containers > maxContainers || scan.commas > maxCommas) throw pieceTooLarge()
      if (end >= 0) {
        this.#takeContainers(scan.containers)
        return end
      }
      const scanned = this.#end - this.#at
      if (!this.#fill(this.#at)) throw this.#notJson('what begins here has no end')
      from = this.#at + scanned
    }
  }

  /** Position behind the number or word that comes next. */
  #findPlainEnd(): number {
    for (let length = 0; ; length++) {
      if (this.#at + length >= this.#end && !this.#fill(this.#at)) return this.#end
      const byte = this.#window[this.#at + length]!
      if (byte <= space || byte === comma || byte === closeBracket || byte === closeBrace) return this.#at + length
    }
  }

  /** Gets more bytes, keeping those from `keep` on; false at the end of the source. */
  #fill(keep: number): boolean {
    const kept = this.#end - keep
    if (kept > maxPieceBytes) throw pieceTooLarge()
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

const tooManyContainers =
  `a body may have ${maxTotalContainers} objects and lists in all, which is more than 256 MiB of sampled tokens have; ` +
  'send fewer trajectories in one body'

function pieceTooLarge(): PieceTooLarge {
  return new PieceTooLarge(
    `one trajectory, or one member beside the groups, may have ${maxPieceBytes / 1024 / 1024} MiB, ` +
      `${maxContainers} objects and lists, and ${maxCommas} commas`,
  )
}

function tooDeep(): JsonError {
  return new JsonError(`nested more than ${maxDepth} deep`)
}
