import { maxDepth } from './depth.ts'

const quote = 0x22
const backslash = 0x5c
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

const nothing = Buffer.from('null')

/** A JSON text with null in place of every object and array nested too deeply. What it leaves is as valid as it was. */
export function flattenJson(bytes: Buffer): Buffer {
  const parts: Buffer[] = []
  let depth = 0
  let kept = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) at = findTextEnd(bytes, at)
    else if (byte === openBrace || byte === openBracket) {
      if (++depth === maxDepth + 1) parts.push(bytes.subarray(kept, at), nothing)
    } else if (byte === closeBrace || byte === closeBracket) {
      if (depth-- === maxDepth + 1) kept = at + 1
    }
  }
  // Of a value that never ends nothing is kept: the objects and arrays around it do not end either.
  if (depth <= maxDepth) parts.push(bytes.subarray(kept))
  return Buffer.concat(parts)
}

function findTextEnd(bytes: Buffer, start: number): number {
  let at = start + 1
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1
  return at
}
