import type { Value } from '../../../lib/json/value.ts'

/** The kind and the classes of a value, from its members. */
export interface ValueClass {
  kind: 'op' | 'object'
  baseObjectClass: string | null
  leafObjectClass: string | null
}

/** Reads the kind of a value, and its classes if it is an object of a class. */
export function classify(value: Value): ValueClass {
  const classes = findClasses(value)
  return {
    kind: readType(value) === 'Op' ? 'op' : 'object',
    baseObjectClass: classes?.base ?? null,
    leafObjectClass: classes?.leaf ?? null,
  }
}

function readType(value: Value): Value | undefined {
  if (!(value instanceof Map) || !value.has('_type')) return undefined
  const envelope = value.get('weave_type')
  return envelope instanceof Map ? envelope.get('type') : value.get('_type')
}

/** `_bases` lists the ancestors, nearest first. The last two show that the value is an object of a class. */
function findClasses(value: Value): { leaf: string; base: string | null } | undefined {
  if (!(value instanceof Map)) return undefined
  const [bases, leaf] = [value.get('_bases'), value.get('_class_name')]
  if (!Array.isArray(bases) || typeof leaf !== 'string' || bases.at(-1) !== 'BaseModel') return undefined
  if (bases.at(-2) !== 'Object' && bases.at(-2) !== 'BaseObject') return undefined
  if (bases.length === 2) return { leaf, base: leaf }
  const base = bases.at(-3)
  return { leaf, base: typeof base === 'string' ? base : null }
}
