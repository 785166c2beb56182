import { JsonError } from '../../json/text.ts'

const quote = 0x22
const backslash = 0x5c
const minus = 0x2d
const plus = 0x2b
const dot = 0x2e
const zero = 0x30
const nine = 0x39
const lowerU = 0x75

const special = tableOf(`"\\${String.fromCharCode(...Array(32).keys())}`)
const escapable = tableOf('"\\/bfnrt')
const hex = tableOf('0123456789abcdefABCDEF')
const words = ['true', 'false', 'null'].map((word) => Buffer.from(word))

function tableOf(characters: string): Uint8Array {
  const table = new Uint8Array(256)
  for (const byte of Buffer.from(characters, 'latin1')) table[byte] = 1
  return table
}

/**
 * @param at behind the opening quote
 * @returns the position behind the closing quote
 * @throws {JsonError} as the other functions here do
 */
export function skipText(bytes: Buffer, at: number): number {
  const end = bytes.length
  while (at < end) {
    const byte = bytes[at]!
    if (special[byte] === 0) at++
    else if (byte === quote) return at + 1
    else if (byte === backslash) at = skipEscape(bytes, at + 1)
    else break
  }
  throw notJson()
}

function skipEscape(bytes: Buffer, at: number): number {
  if (escapable[bytes[at]!] === 1) return at + 1
  if (bytes[at] !== lowerU) throw notJson()
  for (let digit = at + 1; digit <= at + 4; digit++) if (hex[bytes[digit]!] !== 1) throw notJson()
  return at + 5
}

/** Over a number as JSON writes them: no leading zeros, digits on both sides of the point. */
export function skipNumber(bytes: Buffer, at: number): number {
  if (bytes[at] === minus) at++
  at = bytes[at] === zero ? at + 1 : skipDigits(bytes, at)
  if (bytes[at] === dot) at = skipDigits(bytes, at + 1)
  if (bytes[at] === 0x65 || bytes[at] === 0x45) {
    at++
    at = skipDigits(bytes, bytes[at] === plus || bytes[at] === minus ? at + 1 : at)
  }
  return at
}

function skipDigits(bytes: Buffer, start: number): number {
  let at = start
  while (bytes[at]! >= zero && bytes[at]! <= nine) at++
  if (at === start) throw notJson()
  return at
}

/** Over `true`, `false` or `null`. */
export function skipWord(bytes: Buffer, at: number): number {
  const word = words.find((candidate) => candidate.every((byte, index) => bytes[at + index] === byte))
  if (!word) throw notJson()
  return at + word.length
}

export function notJson(): JsonError {
  return new JsonError('not valid JSON')
}
