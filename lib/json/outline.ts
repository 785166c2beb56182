import { jsonBytes } from './bytes.ts'
import { findMark, startScan } from './scan.ts'

// A request of ours has fewer members at its top. The bound keeps the list of marks small.
export const maxMarks = 2_000

/** A half-open range of byte positions. */
export interface ByteRange {
  start: number
  end: number
}

/** Where a member's key and value are, white space included. */
export interface JsonMember {
  key: ByteRange
  value: ByteRange
}

export interface JsonOutline {
  /** Deepest nesting of objects and arrays. */
  depth: number
  /** How many objects and arrays there are. */
  containers: number
  /** How many commas there are: with the containers a bound of how many values. */
  commas: number
  /** Members of the outermost object, in order; empty when it is none, or has very many. */
  members: JsonMember[]
}

// Measured: an object without members takes 64 bytes, a number or a short text with its place in a list up to 40.
const bytesPerContainer = 100
const bytesPerValue = 40

/** About what a text of so many bytes takes as values, beside itself: its texts once more, and what holds them. */
export function estimateValueBytes(sizeBytes: number, { containers, commas }: JsonOutline): number {
  return sizeBytes + bytesPerContainer * containers + bytesPerValue * commas
}

/**
 * Finds how deep and how large a JSON text is, and where the members of its outermost object are, without building values,
 * so that one member can be cut out or replaced and all others keep their exact bytes.
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

/** The marks of an object are `{ : , : , : }`: each colon has the key before it and the value after it. */
export function pairMarks(marks: number[]): JsonMember[] {
  const members: JsonMember[] = []
  for (let index = 1; index + 1 < marks.length; index += 2) {
    const [before, middle, after] = [marks[index - 1]!, marks[index]!, marks[index + 1]!]
    members.push({ key: { start: before + 1, end: middle }, value: { start: middle + 1, end: after } })
  }
  return members
}
