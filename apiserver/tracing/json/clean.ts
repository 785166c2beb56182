import { isUtf8 } from 'node:buffer'

const quote = 0x22
const backslash = 0x5c
const upperI = 0x49
const upperN = 0x4e
const minus = 0x2d
const lowerU = 0x75

const hostile = [String.raw`\u0000`, String.raw`\ud`, String.raw`\uD`, 'NaN', 'Infinity'].map((text) =>
  Buffer.from(text),
)
const words = ['NaN', 'Infinity', '-Infinity'].map((text) => Buffer.from(text))
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
  return hostile.some((part) => text.includes(part)) ? rewrite(text) : text
}

function rewrite(bytes: Buffer): Buffer {
  // `null` for `NaN` is all that can make it longer.
  const target = Buffer.allocUnsafe(Math.ceil((bytes.length * nothing.length) / 3))
  let size = 0
  let inText = false
  for (let at = 0; at < bytes.length;) {
    const byte = bytes[at]!
    if (byte === quote) inText = !inText
    const length = byte === backslash ? measureEscape(bytes, at) : inText ? 1 : measureWord(bytes, at)
    const changed = byte === backslash ? isHostile(bytes, at, length) && replacement : length > 1 && nothing
    if (changed) size += changed.copy(target, size)
    else for (let index = 0; index < length; index++) target[size++] = bytes[at + index]!
    at += length
  }
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

/** How long a word is that JSON does not know; 1 when none is here. */
function measureWord(bytes: Buffer, at: number): number {
  const byte = bytes[at]
  if (byte !== upperN && byte !== upperI && byte !== minus) return 1
  const word = words.find((candidate) => candidate.every((expected, index) => bytes[at + index] === expected))
  return word ? word.length : 1
}
