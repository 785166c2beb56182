import { isUtf8 } from 'node:buffer'
import { isAt } from './skip.ts'

const quote = 0x22
const backslash = 0x5c
const upperI = 0x49
const upperN = 0x4e
const minus = 0x2d
const lowerU = 0x75
const space = 0x20

/** What may stand before a value: `:`, `,` and `[`. */
const beforeValues = new Set([0x3a, 0x2c, 0x5b])

const escapes = [String.raw`\u0000`, String.raw`\ud`, String.raw`\uD`].map((text) => Buffer.from(text))
const words = ['NaN', 'Infinity'].map((text) => Buffer.from(text))
const nothing = Buffer.from('null')
const replacement = Buffer.from(String.raw`\ufffd`)

/**
 * Makes a body harmless before anything else sees it: `\u0000` and halves of surrogate pairs, which Postgres cannot store,
 * become U+FFFD, and so do bytes that are no UTF-8; NaN and infinities outside of texts, which Python writes, become null.
 * All other bytes stay, numbers of any size too. Without any of these it is the same buffer, and that is found out
 * natively. (Values nested too deeply are dealt with where the text is gone through anyway, by `readJson`.)
 */
export function cleanJson(bytes: Buffer): Buffer {
  // Decoding puts U+FFFD where bytes are no UTF-8.
  const text = isUtf8(bytes) ? bytes : Buffer.from(bytes.toString('utf8'))
  return escapes.some((escape) => hasEscape(text, escape)) || words.some((word) => mayHaveWord(text, word))
    ? rewrite(text)
    : text
}

/** Texts often hold texts with escapes of their own, and whole pairs: neither is hostile. */
function hasEscape(bytes: Buffer, escape: Buffer): boolean {
  for (let at = bytes.indexOf(escape); at >= 0;) {
    const length = isEscaped(bytes, at) ? 1 : measureEscape(bytes, at)
    if (length > 1 && isHostile(bytes, at, length)) return true
    at = bytes.indexOf(escape, at + length)
  }
  return false
}

/** Whether the backslash is itself escaped. */
function isEscaped(bytes: Buffer, at: number): boolean {
  let first = at
  while (bytes[first - 1] === backslash) first--
  return (at - first) % 2 === 1
}

/** Outside of texts a word stands where a value may; in them it hardly does. */
function mayHaveWord(bytes: Buffer, word: Buffer): boolean {
  for (let at = bytes.indexOf(word); at >= 0; at = bytes.indexOf(word, at + 1)) {
    let before = at - 1
    while (before >= 0 && (bytes[before] === minus || bytes[before]! <= space)) before--
    if (before < 0 || beforeValues.has(bytes[before]!)) return true
  }
  return false
}

function rewrite(bytes: Buffer): Buffer {
  // `null` for `NaN` is all that can make it longer.
  const target = Buffer.allocUnsafe(Math.ceil((bytes.length * nothing.length) / 3))
  let size = 0
  let kept = 0
  let inText = false
  for (let at = 0, length = 1; at < bytes.length; at += length) {
    const byte = bytes[at]!
    if (byte === quote) inText = !inText
    const change = byte === backslash ? replacement : nothing
    length = byte === backslash ? measureEscape(bytes, at) : inText ? 1 : measureWord(bytes, at)
    if (length === 1 || (change === replacement && !isHostile(bytes, at, length))) continue
    size += bytes.copy(target, size, kept, at)
    size += change.copy(target, size)
    kept = at + length
  }
  size += bytes.copy(target, size, kept)
  return target.subarray(0, size)
}

/** How many bytes an escape has; a whole surrogate pair counts as one. */
function measureEscape(bytes: Buffer, at: number): number {
  if (bytes[at + 1] !== lowerU) return Math.min(2, bytes.length - at)
  const unit = readUnit(bytes, at)
  const isPair = unit >= 0xd800 && unit < 0xdc00 && isLowHalf(readUnit(bytes, at + 6))
  return Math.min(isPair ? 12 : 6, bytes.length - at)
}

/** Whether an escape of such a length stands for what cannot be stored. */
function isHostile(bytes: Buffer, at: number, length: number): boolean {
  if (length !== 6) return false
  const unit = readUnit(bytes, at)
  return unit === 0 || (unit >= 0xd800 && unit <= 0xdfff)
}

function isLowHalf(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}

/** The UTF-16 unit of an escape such as `\u00e9`; -1 when there is none. */
function readUnit(bytes: Buffer, at: number): number {
  if (bytes[at] !== backslash || bytes[at + 1] !== lowerU) return -1
  const digits = bytes.toString('latin1', at + 2, at + 6)
  return /^[0-9a-fA-F]{4}$/.test(digits) ? parseInt(digits, 16) : -1
}

/** How long a word is that JSON does not know, with its sign; 1 when none is here. */
function measureWord(bytes: Buffer, at: number): number {
  const byte = bytes[at]
  if (byte !== upperN && byte !== upperI && byte !== minus) return 1
  const start = byte === minus ? at + 1 : at
  const word = words.find((candidate) => isAt(bytes, start, candidate))
  return word ? start - at + word.length : 1
}
