import type { JsonDocument } from './document.ts'

/**
 * Where a JSON document has a text (or a key) with half of a surrogate pair, which no UTF-8 can hold; undefined when
 * nowhere. Such a half can only be written as an escape, so a document without one is not walked through.
 */
export function findLoneSurrogate({ bytes, value }: JsonDocument): string[] | undefined {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return source.includes('\\ud') || source.includes('\\uD') ? searchLoneSurrogate(value) : undefined
}

/** The same in a value, whose texts are all looked at. */
export function searchLoneSurrogate(value: unknown): string[] | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? undefined : []
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, member] of Object.entries(value)) {
    if (!key.isWellFormed()) return []
    const path = searchLoneSurrogate(member)
    if (path) return [key, ...path]
  }
  return undefined
}
