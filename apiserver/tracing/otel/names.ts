import { createHash } from 'node:crypto'

const maxOpNameLength = 128
const maxDisplayNameLength = 1_024

const firstWord = /^(?:[,;| /?.]|[^,;| /?.]+)/u
const otherWords = /([,;| /?.]*)(?:[^,;| /?.]+|$)/gu

/**
 * Makes an op name of a span's name. A long name is shortened and gets a hash, so that names with the same beginning
 * differ.
 */
export function shortenOpName(name: string): string {
  const mark = createHash('sha256').update(name).digest('hex').slice(0, 4)
  return shorten(name, maxOpNameLength, () => `:${mark}`)
}

export function shortenDisplayName(name: string): string {
  return shorten(name, maxDisplayNameLength, (delimiter) => ('...'.startsWith(delimiter) ? '...' : `${delimiter}...`))
}

/** Drops whole words at the end. Lengths count code points. `end` returns the ending for the delimiter before it. */
function shorten(name: string, maxLength: number, end: (delimiter: string) => string): string {
  if (countPoints(name) <= maxLength) return name
  let kept = firstWord.exec(name)![0]
  const others = Array.from(name.slice(kept.length).matchAll(otherWords)).filter(([word]) => word !== '')
  const room = maxLength - countPoints(end(''))
  if (others.length === 0 || countPoints(kept) > room) return Array.from(name).slice(0, room).join('') + end('')
  for (const [word, delimiter = ''] of others) {
    const ending = end(delimiter)
    const size = countPoints(kept) + countPoints(word)
    if (size >= maxLength - countPoints(ending))
      return Array.from(kept + ending)
        .slice(0, maxLength)
        .join('')
    kept += word
  }
  return kept
}

function countPoints(text: string): number {
  return Array.from(text).length
}
