import { jsonBytes } from './bytes.ts'
import { findMark, startScan } from './scan.ts'

// Our requests have fewer top-level members. The bound keeps the list of marks small.
const maxMarks = 2_000

/** A half-open range of byte positions. */
export interface ByteRange {
  start: number
  end: number
}

/** The positions of a member's key and value, including white space. */
export interface JsonMember {
  key: ByteRange
  value: ByteRange
}

export interface JsonOutline {
  /** The deepest nesting of objects and arrays. */
  depth: number
  /** The number of objects and arrays. */
  containers: number
  /** The number of commas. Together with `containers` it bounds the number of values. */
  commas: number
  /** The members of the outermost object, in order. Empty if it is not an object, or has too many. */
  members: JsonMember[]
}

// Measured: an object without members takes 64 bytes. A number or short text with its list entry takes up to 40.
export const bytesPerContainer = 100
const bytesPerValue = 40

/**
 * Estimates the memory of a text's values, without the text's own bytes: its texts again, and the structures around
 * them.
 */
export function estimateValueBytes(sizeBytes: number, { containers, commas }: JsonOutline): number {
  return sizeBytes + bytesPerContainer * containers + bytesPerValue * commas
}

/**
 * Finds the depth and size of a JSON text, and the positions of the outermost object's members. It builds no values, so
 * one member can be removed or replaced while all others keep their exact bytes.
 *
 * It does not check the text: the members are meaningful only if it parses.
 */
export function outlineJson(bytes: Uint8Array): JsonOutline {
  const scan = startScan()
  const marks: number[] = []
  for (let at = findMark(scan, bytes, 1); at >= 0; at = findMark(scan, bytes, 1)) {
    if (marks.length <= maxMarks) marks.push(at)
  }
  const hasMembers = bytes[marks[0] ?? -1] === jsonBytes.openBrace && marks.length <= maxMarks
  const { deepest, containers, commas } = scan
  return { depth: deepest, containers, commas, members: hasMembers ? pairMarks(marks) : [] }
}

/** The marks of an object are `{ : , : , : }`. Each colon has its key before it and its value after it. */
function pairMarks(marks: number[]): JsonMember[] {
  const members: JsonMember[] = []
  for (let index = 1; index + 1 < marks.length; index += 2) {
    const [before, middle, after] = [marks[index - 1]!, marks[index]!, marks[index + 1]!]
    members.push({ key: { start: before + 1, end: middle }, value: { start: middle + 1, end: after } })
  }
  return members
}
