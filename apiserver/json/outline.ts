const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

// A body with more members at its top is no request of ours; the bound keeps the marks small.
const maxMarks = 2_000

/** A half-open range of byte positions. */
export interface ByteRange {
  start: number
  end: number
}

export interface JsonOutline {
  /** Deepest nesting of objects and arrays. */
  depth: number
  /** How many objects and arrays there are. */
  containers: number
  /** How many commas there are: with the containers a bound of how many values. */
  commas: number
  /** Members of the outermost object, in order; empty when it is none, or has very many. */
  members: { key: ByteRange; value: ByteRange }[]
}

// Measured: an object without members takes 64 bytes, a number or a short text with its place in a list up to 40.
const bytesPerContainer = 100
const bytesPerValue = 40

/** About what a text of so many bytes takes as values, beside itself: its texts once more, and what holds them. */
export function estimateValueBytes(sizeBytes: number, { containers, commas }: JsonOutline): number {
  return sizeBytes + bytesPerContainer * containers + bytesPerValue * commas
}

/**
 * Finds how deep and how large a JSON text is, and where the members of its outermost object lie, without building values,
 * so that one member can be cut out or replaced and all others keep their exact bytes.
 *
 * It does not check the text: the members are meaningful only if it parses.
 */
export function outlineJson(bytes: Uint8Array): JsonOutline {
  let depth = 0
  let deepest = 0
  let containers = 0
  let commas = 0
  const marks: number[] = []
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) at = findStringEnd(bytes, at)
    else if (byte === openBrace || byte === openBracket) {
      depth++
      containers++
      if (depth > deepest) deepest = depth
      if (depth === 1) marks.push(at)
    } else if (byte === closeBrace || byte === closeBracket) {
      if (depth === 1) marks.push(at)
      depth--
    } else if (byte === comma || byte === colon) {
      if (byte === comma) commas++
      if (depth === 1 && marks.length <= maxMarks) marks.push(at)
    }
  }
  const isObject = bytes[marks[0] ?? -1] === openBrace && marks.length <= maxMarks
  return { depth: deepest, containers, commas, members: isObject ? pairMarks(marks) : [] }
}

function findStringEnd(bytes: Uint8Array, start: number): number {
  let at = start + 1
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1
  return at
}

/** The marks of an object are `{ : , : , : }`: each colon has the key before it and the value behind it. */
function pairMarks(marks: number[]): JsonOutline['members'] {
  const members: JsonOutline['members'] = []
  for (let index = 1; index + 1 < marks.length; index += 2) {
    const [before, middle, after] = [marks[index - 1]!, marks[index]!, marks[index + 1]!]
    members.push({ key: { start: before + 1, end: middle }, value: { start: middle + 1, end: after } })
  }
  return members
}
