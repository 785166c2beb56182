import { badRequest } from '../errors.ts'
import { truncate } from '../truncate.ts'
import { parseValue, TooManyValues, ValueBudget, writeValue, type Value } from '../../../lib/json/value.ts'
import { looksLikeRef, tryParseRef, type ObjectRef, type RefEdge } from './parse-ref.ts'

/** A stored value. It is parsed on first use. */
export class StoredValue {
  readonly text: string
  #value: Value | TooManyValues | undefined

  constructor(text: string) {
    this.text = text
  }

  /** @throws {TooManyValues} */
  get value(): Value {
    this.#value ??= tryParse(this.text)
    if (this.#value instanceof TooManyValues) throw this.#value
    return this.#value
  }

  forget(): void {
    this.#value = undefined
  }
}

function tryParse(text: string): Value | TooManyValues {
  try {
    return parseValue(text, new ValueBudget())
  } catch (error) {
    if (error instanceof TooManyValues) return error
    throw error
  }
}

/** The state of a walk: it needs another stored value, or it has found its text. */
export type Walk =
  | { needs: 'object'; name: string; digest: string; edges: RefEdge[] }
  | { needs: 'row'; table: string; digest: string; edges: RefEdge[] }
  | { text: string }

const nothing: Walk = { text: 'null' }

/** Begins a walk at a reference's object. @throws {HttpError} 400 when its version is not a digest */
export function startWalk({ name, digest, edges }: Pick<ObjectRef, 'name' | 'digest' | 'edges'>): Walk {
  if (digest === 'latest' || /^v\d+$/.test(digest)) {
    throw badRequest(`Invalid ref: ${truncate(`${name}:${digest}`)} must name its version by its digest`)
  }
  return { needs: 'object', name, digest, edges }
}

/**
 * Follows edges from a stored value. A missing member or item leads to nothing. A reference on the way leads into its
 * target, if that is in the same project.
 *
 * @throws {HttpError} 400 for an edge that the value cannot have
 */
export function walk(stored: StoredValue, edges: RefEdge[], projectId: string): Walk {
  let value: Value = edges.length > 0 ? stored.value : null
  for (const [index, edge] of edges.entries()) {
    if (typeof value === 'string' && looksLikeRef(value)) return follow(value, edges.slice(index), projectId)
    if (edge.kind === 'id') throw badRequest('Invalid ref: only tables have row ids')
    const next = takePart(value, edge)
    if (next === undefined || next === null) return nothing
    value = next
  }
  return { text: edges.length > 0 ? writeValue(value) : stored.text }
}

function takePart(value: Value, { kind, value: name }: RefEdge): Value | undefined {
  if (kind === 'index') return Array.isArray(value) ? value.at(Number(name)) : undefined
  return value instanceof Map ? value.get(name) : undefined
}

function follow(uri: string, edges: RefEdge[], projectId: string): Walk {
  const ref = tryParseRef(uri)
  if (ref?.projectId !== projectId) return nothing
  if (ref.kind === 'object' || ref.kind === 'op') return startWalk({ ...ref, edges: [...ref.edges, ...edges] })
  if (ref.kind !== 'table') return nothing
  const [row, ...rest] = edges
  if (row?.kind !== 'id') throw badRequest('Invalid ref: use the id of the row')
  return { needs: 'row', table: ref.digest, digest: row.value, edges: rest }
}
