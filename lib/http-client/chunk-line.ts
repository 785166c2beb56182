import { malformed } from './errors.ts'

const carriageReturn = 0x0d
const newline = 0x0a
const semicolon = 0x3b
// Four gigabytes.
const maxDigits = 8

/** The line before a chunk's data: the chunk's size, and where the data begins. */
export interface ChunkLine {
  size: number
  end: number
}

/** Reads the line before a chunk's data. Undefined if it is incomplete. @throws {HttpClientError} */
export function readChunkLine(bytes: Buffer, start: number): ChunkLine | undefined {
  let size = 0
  let at = start
  for (let digit = readDigit(bytes[at]); digit >= 0; digit = readDigit(bytes[++at])) size = 16 * size + digit
  if (at - start > maxDigits) throw malformed('a chunk that is too large')
  if (at === bytes.length) return undefined
  // Chunk extensions are ignored.
  const lineEnd = bytes[at] === semicolon ? bytes.indexOf(carriageReturn, at) : at
  if (lineEnd === -1 || lineEnd + 1 === bytes.length) return undefined
  if (at === start || bytes[lineEnd] !== carriageReturn || bytes[lineEnd + 1] !== newline)
    throw malformed('a malformed chunk')
  return { size, end: lineEnd + 2 }
}

/** The value of a hexadecimal digit. -1 for any other byte, and behind the end. */
function readDigit(byte: number | undefined): number {
  if (byte === undefined) return -1
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  // Upper and lower case letters differ by one bit.
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}
