import type { JsonDocument } from './document.ts'

/**
 * The path of a text, or of an object with a key, that has half of a surrogate pair, which UTF-8 cannot hold. JSON can
 * write such a half only as an escape, so a document without that escape is not searched.
 */
export function findLoneSurrogate({ bytes, value }: JsonDocument): string[] | undefined {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return source.includes('\\ud') || source.includes('\\uD') ? searchLoneSurrogate(value) : undefined
}

/** The same in a value; all of its texts are searched. */
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
