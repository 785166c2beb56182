import { createHash } from 'node:crypto'
import { isObject } from '../../lib/json/is-object.ts'
import type { KeySet } from './key-sets.ts'

// Objects in a line are searched for keys to this depth.
const maxKeyDepth = 4
// Of all keys of a line. Those in objects have the names of all objects around them, so a short line may have many.
const maxChars = 1024 * 1024
// A longer key is in its lines only: an error would make the client drop all lines after it.
const maxKeyChars = 1_024

/**
 * The keys of a line in any order, with the types of their values. Keys of objects are joined by dots. Long keys are left
 * out. Undefined if all others together are too long.
 */
export function buildKeySet(values: Record<string, unknown>): KeySet | undefined {
  const found: [string, string][] = []
  let chars = 0
  for (const entry of listKeys(values, '', 0)) {
    if (entry[0].length > maxKeyChars) continue
    chars += entry[0].length
    if (chars > maxChars) return undefined
    found.push(entry)
  }
  const entries = found.toSorted(([a], [b]) => (a < b ? -1 : Number(a > b)))
  const keys = Object.fromEntries(entries)
  return { digest: createHash('sha256').update(JSON.stringify(entries)).digest('base64'), keys }
}

function* listKeys(values: Record<string, unknown>, before: string, depth: number): Generator<[string, string]> {
  for (const [name, value] of Object.entries(values)) {
    const key = `${before}${name}`
    yield [key, describeType(value)]
    // Media, histograms and tables are values with a type.
    if (isObject(value) && !('_type' in value) && depth < maxKeyDepth) yield* listKeys(value, `${key}.`, depth + 1)
  }
}

function describeType(value: unknown): string {
  if (typeof value === 'number') return 'number'
  if (typeof value === 'string') return 'string'
  if (value === null || typeof value === 'boolean') return 'nil'
  if (Array.isArray(value)) return 'list'
  const type = (value as Record<string, unknown>)['_type']
  return typeof type === 'string' ? type.slice(0, 64) : 'map'
}
