import { jsonBytes } from './bytes.ts'
import { maxMarks, pairMarks, type JsonOutline } from './outline.ts'

const { quote, backslash, comma, colon, openBracket, closeBracket, openBrace, closeBrace } = jsonBytes

/**
 * Finds the same as `outlineJson`, in a string with one character per byte. Searching the end of a text is several
 * times faster in a string.
 */
export function outlineText(source: string): JsonOutline {
  const marks: number[] = []
  let [depth, deepest, containers, commas] = [0, 0, 0, 0]
  for (let at = 0; at < source.length; at++) {
    const code = source.charCodeAt(at)
    if (code === quote) {
      at = findQuote(source, at + 1)
      continue
    }
    const isOpening = code === openBrace || code === openBracket
    const isClosing = code === closeBrace || code === closeBracket
    if (isOpening) {
      containers++
      if (++depth > deepest) deepest = depth
    } else if (code === comma) commas++
    else if (code !== colon && !isClosing) continue
    if (depth === 1 && marks.length <= maxMarks) marks.push(at)
    if (isClosing) depth--
  }
  const hasMembers = source.charCodeAt(marks[0] ?? -1) === openBrace && marks.length <= maxMarks
  return { depth: deepest, containers, commas, members: hasMembers ? pairMarks(marks) : [] }
}

/** The position of the quote that ends a text; the source's length if there is none. */
function findQuote(source: string, start: number): number {
  for (let from = start; ;) {
    const at = source.indexOf('"', from)
    if (at === -1) return source.length
    let escapes = 0
    while (at - escapes > start && source.charCodeAt(at - escapes - 1) === backslash) escapes++
    if (escapes % 2 === 0) return at
    from = at + 1
  }
}
