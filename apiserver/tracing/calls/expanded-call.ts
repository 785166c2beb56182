import type { StoredCall } from '../../../db/tracing/call-rows.ts'
import { addMember } from '../../../lib/json/raw.ts'
import { parseUpTo, writeValue, type Value } from '../../../lib/json/value.ts'
import type { PathTree } from './path-tree.ts'
import type { RefTexts } from './ref-texts.ts'

type Payload = 'attributes' | 'inputs' | 'output' | 'summary'

const payloads: ReadonlySet<string> = new Set<Payload>(['attributes', 'inputs', 'output', 'summary'])

export function isPayload(column: string): column is Payload {
  return payloads.has(column)
}

/** A call in which refs at some paths are replaced. */
export class ExpandedCall {
  readonly #call: StoredCall
  readonly #roots: [Payload, Value, PathTree][] = []

  constructor(call: StoredCall, paths: PathTree) {
    this.#call = call
    for (const [root, below] of paths.below) {
      const text = call[root as Payload]
      const value = typeof text === 'string' ? parseUpTo(text) : undefined
      // A payload with too many values is not expanded.
      if (value !== undefined) this.#roots.push([root as Payload, value, below])
    }
  }

  /** The refs at the paths whose values are not known yet. */
  listRefs(values: RefTexts): string[] {
    const found: string[] = []
    for (const [, value, paths] of this.#roots) listRefs(value, paths, { values, found })
    return found
  }

  /** Replaces the refs by the values, and returns the call. */
  write(values: RefTexts): StoredCall {
    for (const [root, value, paths] of this.#roots) this.#call[root] = write(value, paths, values)
    return this.#call
  }
}

function listRefs(value: Value, paths: PathTree, known: { values: RefTexts; found: string[] }): void {
  if (paths.isWanted && isRef(value)) {
    if (!known.values.isKnown(value)) known.found.push(value)
    if (paths.below.size === 0) return
    const stored = known.values.getValue(value)
    if (stored !== undefined) listBelow(stored, paths, known)
    return
  }
  listBelow(value, paths, known)
}

function listBelow(value: Value, paths: PathTree, known: { values: RefTexts; found: string[] }): void {
  for (const [segment, below] of paths.below) {
    const member = memberOf(value, segment)
    if (member !== undefined) listRefs(member, below, known)
  }
}

function write(value: Value, paths: PathTree, values: RefTexts): string {
  if (!paths.isWanted || !isRef(value)) return writeBelow(value, paths, values)
  const text = values.getText(value)
  if (text === undefined) return JSON.stringify(value)
  if (paths.below.size === 0 && !text.includes('"_ref"')) return addRef(text, value)
  const stored = values.getValue(value)
  if (stored === undefined) return addRef(text, value)
  const named = stored instanceof Map ? new Map(stored).set('_ref', value) : stored
  return writeBelow(named, paths, values)
}

/** Adds its ref to the text of an object. Any other text is returned unchanged. */
function addRef(text: string, ref: string): string {
  return text.trimStart().startsWith('{') ? addMember(text, '_ref', JSON.stringify(ref)) : text
}

function writeBelow(value: Value, paths: PathTree, values: RefTexts): string {
  if (paths.below.size === 0) return writeValue(value)
  const writeMember = (key: string, member: Value) => {
    const below = paths.below.get(key)
    return below ? write(member, below, values) : writeValue(member)
  }
  if (Array.isArray(value)) return `[${value.map((item, index) => writeMember(String(index), item)).join(',')}]`
  if (!(value instanceof Map)) return writeValue(value)
  return `{${[...value].map(([key, member]) => `${JSON.stringify(key)}:${writeMember(key, member)}`).join(',')}}`
}

function isRef(value: Value): value is string {
  return typeof value === 'string' && value.startsWith('weave:///')
}

function memberOf(holder: Value, key: string): Value | undefined {
  if (holder instanceof Map) return holder.get(key)
  return Array.isArray(holder) && /^(?:0|[1-9]\d*)$/.test(key) ? holder[Number(key)] : undefined
}
