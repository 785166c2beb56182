import { isAt, isSpace, jsonBytes } from './bytes.ts'
import { maxKeptDepth } from './depth.ts'
import { NotJson } from './parse.ts'

const { space, quote, plus, comma, minus, dot, zero, nine, colon, backslash, upperE, lowerE, lowerU } = jsonBytes
const { openBracket, openBrace, closeBrace } = jsonBytes

const escapable = tableOf('"\\/bfnrt')
const hexDigits = tableOf('0123456789abcdefABCDEF')
const words = ['true', 'false', 'null'].map((word) => Buffer.from(word))

/** The position of a walk over a value. */
export interface Walk {
  at: number
  /** The number of objects and arrays around the value. */
  depth: number
  /** The number of open objects and arrays at this position. */
  open: number
  /** The closing byte of each open object and array, by depth. */
  closers: Uint8Array
}

export const createClosers = () => new Uint8Array(maxKeptDepth + 1)
// For uninterrupted walks. Only one of them runs at a time.
export const closersOfWhole = createClosers()

/** The text is nested more deeply than values are stored. */
export class TooDeep extends Error {
  override name = 'TooDeep'
}

/**
 * Checks a JSON value in UTF-8, with white space before it, and builds nothing. It accepts what JSON.parse accepts. The
 * whole value must be there. `scanValue` finds the end of a value that arrives in parts, and does not check it.
 *
 * Each byte of a payload passes here. One function with local variables takes a third of the time of methods and
 * fields.
 *
 * @param depth the number of objects and arrays around it
 * @returns the position after it
 * @throws {NotJson} as the other functions here do, and TooDeep
 */
export function skipValue(bytes: Buffer, start: number, depth: number): number {
  return walkOn(bytes, { at: start, depth, open: depth, closers: closersOfWhole }, Infinity)
}

/**
 * Continues a walk, as `skipValue` does.
 *
 * @returns the position behind the value; -1 if the value continues behind `until`
 */
export function walkOn(bytes: Buffer, walk: Walk, until: number): number {
  const { depth, closers } = walk
  let { at, open } = walk
  for (;;) {
    if (at >= until) {
      walk.at = at
      walk.open = open
      return -1
    }
    at = skipSpace(bytes, at)
    const byte = bytes[at]
    if (byte === openBrace || byte === openBracket) {
      if (++open > maxKeptDepth) throw new TooDeep()
      // In ASCII, each closing byte is its opening byte + 2.
      const closer = byte + 2
      closers[open] = closer
      at = skipSpace(bytes, at + 1)
      const isEmpty = bytes[at] === closer
      if (byte === openBrace && !isEmpty) at = skipKey(bytes, at)
      if (!isEmpty) continue
    } else at = skipPlain(bytes, at)
    while (open > depth && bytes[(at = skipSpace(bytes, at))] === closers[open]) {
      open--
      at++
    }
    if (open === depth) return at
    if (bytes[at] !== comma) throw new NotJson()
    at = closers[open] === closeBrace ? skipKey(bytes, at + 1) : at + 1
  }
}

/** Checks a key, with white space before it, and its colon. */
export function skipKey(bytes: Buffer, start: number): number {
  const at = skipSpace(bytes, start)
  if (bytes[at] !== quote) throw new NotJson()
  const end = skipSpace(bytes, skipText(bytes, at + 1))
  if (bytes[end] !== colon) throw new NotJson()
  return end + 1
}

export function skipSpace(bytes: Buffer, start: number): number {
  let at = start
  let byte = bytes[at]!
  while (byte <= space && isSpace(byte)) byte = bytes[++at]!
  return at
}

/**
 * Also checks a text's escapes and characters, which `findTextEnd` does not.
 *
 * @param start the position after the opening quote
 * @returns the position after the closing quote
 */
function skipText(bytes: Buffer, start: number): number {
  for (let at = start; ;) {
    let byte = bytes[at]!
    while (byte !== quote && byte !== backslash && byte >= space) byte = bytes[++at]!
    if (byte === quote) return at + 1
    if (byte !== backslash) throw new NotJson()
    at = skipEscape(bytes, at + 1)
  }
}

function skipEscape(bytes: Buffer, at: number): number {
  if (escapable[bytes[at]!] === 1) return at + 1
  if (bytes[at] !== lowerU) throw new NotJson()
  for (let digit = at + 1; digit <= at + 4; digit++) if (hexDigits[bytes[digit]!] !== 1) throw new NotJson()
  return at + 5
}

function skipPlain(bytes: Buffer, at: number): number {
  const byte = bytes[at]!
  if (byte === quote) return skipText(bytes, at + 1)
  return byte === minus || isDigit(byte) ? skipNumber(bytes, at) : skipWord(bytes, at)
}

function skipNumber(bytes: Buffer, start: number): number {
  let at = bytes[start] === minus ? start + 1 : start
  at = bytes[at] === zero ? at + 1 : skipDigits(bytes, at)
  if (bytes[at] === dot) at = skipDigits(bytes, at + 1)
  if (bytes[at] !== lowerE && bytes[at] !== upperE) return at
  const isSigned = bytes[at + 1] === plus || bytes[at + 1] === minus
  return skipDigits(bytes, isSigned ? at + 2 : at + 1)
}

function skipDigits(bytes: Buffer, start: number): number {
  let at = start
  while (isDigit(bytes[at]!)) at++
  if (at === start) throw new NotJson()
  return at
}

function isDigit(byte: number): boolean {
  return byte >= zero && byte <= nine
}

function skipWord(bytes: Buffer, at: number): number {
  const word = words.find((candidate) => isAt(bytes, at, candidate))
  if (!word) throw new NotJson()
  return at + word.length
}

function tableOf(characters: string): Uint8Array {
  const table = new Uint8Array(256)
  for (const byte of Buffer.from(characters)) table[byte] = 1
  return table
}
