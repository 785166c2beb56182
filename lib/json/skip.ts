import { isAt, isSpace, jsonBytes } from './bytes.ts'
import { maxKeptDepth } from './depth.ts'
import { NotJson } from './parse.ts'

const { space, quote, plus, comma, minus, dot, zero, nine, colon, backslash, upperE, lowerE, lowerU } = jsonBytes
const { openBracket, openBrace, closeBrace } = jsonBytes

const escapable = tableOf('"\\/bfnrt')
const hexDigits = tableOf('0123456789abcdefABCDEF')
const words = ['true', 'false', 'null'].map((word) => Buffer.from(word))

/** Words that programs write for numbers that JSON does not have, or for values that JSON spells differently. */
const foreignWords: Record<string, string> = {
  NaN: 'JSON has no NaN: send a number, or null',
  Infinity: 'JSON has no Infinity: send a number, or null',
  '-Infinity': 'JSON has no -Infinity: send a number, or null',
  undefined: 'JSON has no undefined: leave the member out, or send null',
  None: 'use null, not None',
  True: 'JSON writes true for True',
  False: 'JSON writes false for False',
}
const maxWordLength = 10

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
    if (bytes[at] !== comma) throw notJson(bytes, at, `a comma or ${String.fromCharCode(closers[open]!)} is missing`)
    at = closers[open] === closeBrace ? skipKey(bytes, at + 1) : at + 1
  }
}

/** Checks that only white space is left. */
export function skipEnd(bytes: Buffer, start: number): void {
  const at = skipSpace(bytes, start)
  if (at < bytes.length) throw new NotJson(at, 'unexpected text after the end of the value')
}

/** Checks a key, with white space before it, and its colon. */
export function skipKey(bytes: Buffer, start: number): number {
  const at = skipSpace(bytes, start)
  if (bytes[at] !== quote) throw notJson(bytes, at, 'expected a name in double quotes')
  const end = skipSpace(bytes, skipText(bytes, at + 1))
  if (bytes[end] !== colon) throw notJson(bytes, end, 'expected a colon after the name')
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
    if (byte !== backslash) throw notJson(bytes, at, 'a text has a control character that is not escaped')
    at = skipEscape(bytes, at + 1)
  }
}

function skipEscape(bytes: Buffer, at: number): number {
  if (escapable[bytes[at]!] === 1) return at + 1
  let digit = at + 1
  while (digit <= at + 4 && hexDigits[bytes[digit]!] === 1) digit++
  if (bytes[at] !== lowerU || digit <= at + 4) throw notJson(bytes, at, 'a string has an invalid escape')
  return digit
}

function skipPlain(bytes: Buffer, at: number): number {
  const byte = bytes[at]!
  if (byte === quote) return skipText(bytes, at + 1)
  return isDigit(byte === minus ? bytes[at + 1]! : byte) ? skipNumber(bytes, at) : skipWord(bytes, at)
}

/** A point or an exponent without digits is not a part of the number. */
function skipNumber(bytes: Buffer, start: number): number {
  let at = bytes[start] === minus ? start + 1 : start
  at = bytes[at] === zero ? at + 1 : skipDigits(bytes, at)
  if (bytes[at] === dot && isDigit(bytes[at + 1]!)) at = skipDigits(bytes, at + 1)
  if (bytes[at] !== lowerE && bytes[at] !== upperE) return at
  const isSigned = bytes[at + 1] === plus || bytes[at + 1] === minus
  const exponent = isSigned ? at + 2 : at + 1
  return isDigit(bytes[exponent]!) ? skipDigits(bytes, exponent) : at
}

function skipDigits(bytes: Buffer, start: number): number {
  let at = start
  while (isDigit(bytes[at]!)) at++
  return at
}

function isDigit(byte: number): boolean {
  return byte >= zero && byte <= nine
}

function skipWord(bytes: Buffer, at: number): number {
  const word = words.find((candidate) => isAt(bytes, at, candidate))
  if (!word) throw notJson(bytes, at, explainWord(bytes, at))
  return at + word.length
}

function explainWord(bytes: Buffer, at: number): string {
  const [word = ''] = /^-?[A-Za-z]*/.exec(bytes.toString('latin1', at, at + maxWordLength)) ?? []
  return Object.hasOwn(foreignWords, word) ? foreignWords[word]! : 'a value is missing'
}

function notJson(bytes: Buffer, at: number, reason: string): NotJson {
  return at < bytes.length ? new NotJson(at, reason) : new NotJson(bytes.length, 'unexpected end of the text')
}

function tableOf(characters: string): Uint8Array {
  const table = new Uint8Array(256)
  for (const byte of Buffer.from(characters)) table[byte] = 1
  return table
}
