import type { JsonDocument } from './document.ts'

/**
 * The path of a text, or of an object with a key, that contains an unpaired surrogate, which UTF-8 cannot encode. JSON
 * can only write one as an escape, so documents without that escape are not searched.
 */
export function findLoneSurrogate({ bytes, value }: JsonDocument): string[] | undefined {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return source.includes('\\ud') || source.includes('\\uD') ? searchLoneSurrogate(value) : undefined
}

/** Searches all texts of a value. */
export function searchLoneSurrogate(value: unknown): string[] | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? undefined : []
  if (typeof value !== 'object' || value === null) return undefined
  // `for...in` would be a fifth of a large request: V8 compiles it again and again for objects of several forms.
  for (const key of Object.keys(value)) {
    if (!key.isWellFormed()) return []
    const path = searchLoneSurrogate((value as Record<string, unknown>)[key])
    if (path) return [key, ...path]
  }
  return undefined
}
