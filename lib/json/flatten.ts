import { jsonBytes } from './bytes.ts'
import { maxKeptDepth } from './depth.ts'
import { findMark, startScan } from './scan.ts'

const { openBracket, closeBracket, openBrace, closeBrace } = jsonBytes

const nothing = Buffer.from('null')

/** Replaces objects and arrays that are nested too deeply by null. All other bytes stay, valid or not. */
export function flattenJson(bytes: Buffer): Buffer {
  const scan = startScan()
  const level = maxKeptDepth + 1
  const parts: Buffer[] = []
  let kept = 0
  for (let at = findMark(scan, bytes, level); at >= 0; at = findMark(scan, bytes, level)) {
    const byte = bytes[at]
    if (byte === openBrace || byte === openBracket) parts.push(bytes.subarray(kept, at), nothing)
    if (byte === closeBrace || byte === closeBracket) kept = at + 1
  }
  // A value without an end is dropped: the objects and arrays around it have no end either.
  if (scan.depth <= maxKeptDepth) parts.push(bytes.subarray(kept))
  return Buffer.concat(parts)
}
