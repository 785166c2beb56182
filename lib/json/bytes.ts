/**
 * The bytes of JSON's grammar. Files that compare each byte of a text copy them into their own constants (`const {
 * quote } = jsonBytes`): V8 compiles these into the code. It loads an imported constant from memory at each use, which
 * makes a scan a quarter slower.
 */
export const jsonBytes = {
  tab: 0x09,
  newline: 0x0a,
  carriageReturn: 0x0d,
  space: 0x20,
  quote: 0x22,
  plus: 0x2b,
  comma: 0x2c,
  minus: 0x2d,
  dot: 0x2e,
  zero: 0x30,
  nine: 0x39,
  colon: 0x3a,
  upperE: 0x45,
  upperI: 0x49,
  upperN: 0x4e,
  openBracket: 0x5b,
  backslash: 0x5c,
  closeBracket: 0x5d,
  lowerE: 0x65,
  lowerU: 0x75,
  openBrace: 0x7b,
  closeBrace: 0x7d,
} as const

const { tab, newline, carriageReturn, space } = jsonBytes

/** Whether JSON allows this byte between values. */
export function isSpace(byte: number): boolean {
  return byte === space || byte === newline || byte === carriageReturn || byte === tab
}

/** Whether `expected` is at this position. */
export function isAt(bytes: Uint8Array, at: number, expected: Uint8Array): boolean {
  for (let index = 0; index < expected.length; index++) if (bytes[at + index] !== expected[index]) return false
  return true
}
