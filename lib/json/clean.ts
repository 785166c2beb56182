// Looks only at texts and words with its own loop, because what it mends is not JSON yet. scan.ts finds the ends of texts.

import { isUtf8 } from 'node:buffer'
import { isAt, jsonBytes } from './bytes.ts'
import { findTextEnd } from './scan.ts'

const { space, quote, comma, minus, colon, upperI, upperN, openBracket, backslash, lowerU } = jsonBytes

/** The bytes that can come before a value. */
const beforeValues = new Set<number>([colon, comma, openBracket])

const escapes = [String.raw`\u0000`, String.raw`\ud`, String.raw`\uD`].map((text) => Buffer.from(text))
const words = ['NaN', 'Infinity'].map((text) => Buffer.from(text))
const nothing = Buffer.from('null')
const replacement = Buffer.from(String.raw`\ufffd`)

/**
 * Replaces what Postgres cannot store. `\u0000`, unpaired surrogates and bytes that are not UTF-8 become U+FFFD. NaN
 * and infinities, which Python writes, become null outside of texts, or what `writeWord` makes of them. All other bytes stay,
 * also numbers of any size. If there is nothing to replace, which native searches detect, returns the same buffer.
 * (`readJson` replaces values that are nested too deeply, because it reads the text anyway.)
 */
export function cleanJson(bytes: Buffer, writeWord: (word: Buffer) => Buffer = () => nothing): Buffer {
  // Decoding replaces bytes that are not UTF-8 by U+FFFD.
  const text = isUtf8(bytes) ? bytes : Buffer.from(bytes.toString('utf8'))
  return escapes.some((escape) => hasEscape(text, escape)) || words.some((word) => mayHaveWord(text, word))
    ? rewrite(text, writeWord)
    : text
}

/** Texts often contain complete pairs, and JSON in texts contains escaped escapes. Neither is hostile. */
function hasEscape(bytes: Buffer, escape: Buffer): boolean {
  for (let at = bytes.indexOf(escape); at >= 0;) {
    const length = isEscaped(bytes, at) ? 1 : measureEscape(bytes, at)
    if (length > 1 && isHostile(bytes, at, length)) return true
    at = bytes.indexOf(escape, at + length)
  }
  return false
}

/** Whether the backslash itself is escaped. */
function isEscaped(bytes: Buffer, at: number): boolean {
  let first = at
  while (bytes[first - 1] === backslash) first--
  return (at - first) % 2 === 1
}

/** Outside of texts, a word comes where a value may come. In texts it rarely does. */
function mayHaveWord(bytes: Buffer, word: Buffer): boolean {
  for (let at = bytes.indexOf(word); at >= 0; at = bytes.indexOf(word, at + 1)) {
    let before = at - 1
    while (before >= 0 && (bytes[before] === minus || bytes[before]! <= space)) before--
    if (before < 0 || beforeValues.has(bytes[before]!)) return true
  }
  return false
}

function rewrite(bytes: Buffer, writeWord: (word: Buffer) => Buffer): Buffer {
  const rewritten = new Rewritten(bytes)
  for (let at = 0; at < bytes.length;) {
    if (bytes[at] === quote) at = rewriteText(rewritten, bytes, at)
    else {
      const length = measureWord(bytes, at)
      if (length > 1) rewritten.replace(at, length, writeWord(bytes.subarray(at, at + length)))
      at += length
    }
  }
  return rewritten.end()
}

/** @returns the position after the text's closing quote */
function rewriteText(rewritten: Rewritten, bytes: Buffer, start: number): number {
  const end = findTextEnd(bytes, start + 1)
  for (let at = start + 1; at < end;) {
    const length = bytes[at] === backslash ? measureEscape(bytes, at) : 1
    if (isHostile(bytes, at, length)) rewritten.replace(at, length, replacement)
    at += length
  }
  return end + 1
}

/** Copies a text from start to end and replaces parts of it. */
class Rewritten {
  readonly #source: Buffer
  readonly #target: Buffer
  #size = 0
  #copied = 0

  constructor(source: Buffer) {
    this.#source = source
    // At most, quotes around `NaN` make a text longer.
    this.#target = Buffer.allocUnsafe(Math.ceil((source.length * 5) / 3))
  }

  replace(at: number, length: number, by: Buffer): void {
    this.#size += this.#source.copy(this.#target, this.#size, this.#copied, at)
    this.#size += by.copy(this.#target, this.#size)
    this.#copied = at + length
  }

  end(): Buffer {
    this.#size += this.#source.copy(this.#target, this.#size, this.#copied)
    return this.#target.subarray(0, this.#size)
  }
}

/** The number of bytes of an escape. A surrogate pair counts as one escape. */
function measureEscape(bytes: Buffer, at: number): number {
  if (bytes[at + 1] !== lowerU) return Math.min(2, bytes.length - at)
  const unit = readUnit(bytes, at)
  const isPair = unit >= 0xd800 && unit < 0xdc00 && isLowHalf(readUnit(bytes, at + 6))
  return Math.min(isPair ? 12 : 6, bytes.length - at)
}

/** Whether an escape of this length cannot be stored. */
function isHostile(bytes: Buffer, at: number, length: number): boolean {
  if (length !== 6) return false
  const unit = readUnit(bytes, at)
  return unit === 0 || (unit >= 0xd800 && unit <= 0xdfff)
}

function isLowHalf(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}

/** The UTF-16 unit of an escape such as `\u00e9`; -1 if there is none. */
function readUnit(bytes: Buffer, at: number): number {
  if (bytes[at] !== backslash || bytes[at + 1] !== lowerU) return -1
  const digits = bytes.toString('latin1', at + 2, at + 6)
  return /^[0-9a-fA-F]{4}$/.test(digits) ? parseInt(digits, 16) : -1
}

/** The length, with its sign, of a word that JSON does not allow; 1 if there is none at this position. */
function measureWord(bytes: Buffer, at: number): number {
  const byte = bytes[at]
  if (byte !== upperN && byte !== upperI && byte !== minus) return 1
  const start = byte === minus ? at + 1 : at
  const word = words.find((candidate) => isAt(bytes, start, candidate))
  return word ? start - at + word.length : 1
}
