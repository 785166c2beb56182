import { jsonBytes } from './bytes.ts'

const { quote, backslash, comma, colon, openBracket, closeBracket, openBrace, closeBrace } = jsonBytes

// A call of indexOf takes as long as a loop over this many bytes.
const searchedBytes = 64

/** The position of a scan in a JSON text, and its counts. It continues when more of the text has arrived. */
export interface Scan {
  /** The position of the next byte. It is beyond the available bytes if they end inside an escape. */
  at: number
  inText: boolean
  /** The number of open objects and arrays. */
  depth: number
  deepest: number
  /** The number of objects and arrays so far. */
  containers: number
  /** The number of commas so far. Together with `containers` it bounds the number of values. */
  commas: number
}

export function startScan(): Scan {
  return { at: 0, inText: false, depth: 0, deepest: 0, containers: 0, commas: 0 }
}

/**
 * Moves to the next bracket, brace, comma or colon of an object or array at one level. The outermost has level 1.
 *
 * It does not check the text: the result is meaningful only if the text parses. `skipValue` checks, but needs the whole
 * value.
 *
 * @param bytes the text from its beginning
 * @returns the position; -1 if there is none
 */
export function findMark(scan: Scan, bytes: Uint8Array, level: number): number {
  let { at, inText, depth, deepest, containers, commas } = scan
  let mark = -1
  while (at < bytes.length && mark < 0) {
    const byte = bytes[at]
    if (inText || byte === quote) {
      at = findTextEnd(bytes, inText ? at : at + 1)
      inText = at >= bytes.length
    } else if (byte === openBrace || byte === openBracket) {
      containers++
      if (++depth > deepest) deepest = depth
      if (depth === level) mark = at
    } else if (byte === closeBrace || byte === closeBracket) {
      if (depth-- === level) mark = at
    } else if (byte === comma || byte === colon) {
      if (byte === comma) commas++
      if (depth === level) mark = at
    }
    if (!inText) at++
  }
  scan.at = at
  scan.inText = inText
  scan.depth = depth
  scan.deepest = deepest
  scan.containers = containers
  scan.commas = commas
  return mark
}

/**
 * Moves to the end of a text, object or array. It does not check the value.
 *
 * @param bytes the value from its beginning
 * @returns the value's length; -1 if its end has not arrived
 */
export function scanValue(scan: Scan, bytes: Uint8Array): number {
  if (bytes[0] === quote) {
    scan.at = findTextEnd(bytes, Math.max(1, scan.at))
    return scan.at < bytes.length ? scan.at + 1 : -1
  }
  while (findMark(scan, bytes, 1) >= 0) if (scan.depth === 0) return scan.at
  return -1
}

/**
 * @param start a position in a text, behind its opening quote
 * @returns the position of the closing quote; the length, or one more, if there is none
 */
export function findTextEnd(bytes: Uint8Array, start: number): number {
  const until = Math.min(start + searchedBytes, bytes.length)
  let at = start
  while (at < until && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1
  return at < until || at >= bytes.length ? at : searchTextEnd(bytes, at)
}

/** Searches for quotes instead, which is faster in a long text. */
function searchTextEnd(bytes: Uint8Array, start: number): number {
  for (let from = start; ;) {
    const at = bytes.indexOf(quote, from)
    const end = at === -1 ? bytes.length : at
    let escapes = 0
    while (end - escapes > start && bytes[end - escapes - 1] === backslash) escapes++
    const isEscaped = escapes % 2 === 1
    if (at === -1) return isEscaped ? end + 1 : end
    if (!isEscaped) return at
    from = at + 1
  }
}
