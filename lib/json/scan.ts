import { jsonBytes } from './bytes.ts'

const { quote, backslash, comma, colon, openBracket, closeBracket, openBrace, closeBrace } = jsonBytes

// A call of indexOf takes as long as this many bytes of a loop.
const searchedBytes = 64

/** How far a scan has come in a JSON text, and what it has counted; it goes on when more of the text is there. */
export interface Scan {
  /** Position of the next byte. It is beyond the bytes that are there when they end inside an escape. */
  at: number
  inText: boolean
  /** How many objects and arrays are open. */
  depth: number
  deepest: number
  /** How many objects and arrays there were. */
  containers: number
  /** How many commas there were: with the containers a bound of how many values. */
  commas: number
}

export function startScan(): Scan {
  return { at: 0, inText: false, depth: 0, deepest: 0, containers: 0, commas: 0 }
}

/**
 * Goes on to the next bracket, brace, comma or colon of an object or array at one level; the outermost has level 1.
 *
 * It does not check the text: what it finds is meaningful only if the text parses. `skipValue` checks, but needs the
 * whole value.
 *
 * @param bytes the text from its beginning
 * @returns the position; -1 when there is none
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
 * Goes on to the end of a text, object or array. It does not check the value.
 *
 * @param bytes the value from its beginning
 * @returns the value's length; -1 when its end is not there yet
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
 * @returns the position of the closing quote; the length, or one more, when there is none
 */
export function findTextEnd(bytes: Uint8Array, start: number): number {
  const until = Math.min(start + searchedBytes, bytes.length)
  let at = start
  while (at < until && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1
  return at < until || at >= bytes.length ? at : searchTextEnd(bytes, at)
}

/** The same by a search for quotes, which is faster in a long text. */
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
