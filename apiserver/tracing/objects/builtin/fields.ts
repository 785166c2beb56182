import { JsonNumber, type Value } from '../../../../lib/json/value.ts'

/** A value does not match its class. The message names the field and the reason. */
export class FieldError extends Error {
  override name = 'FieldError'
}

/** Validates a value and returns it in the stored form. @throws {FieldError} */
export type Field = (value: Value, path: string) => Value

/** An optional field with its default. */
export interface DefaultedField {
  field: Field
  value: () => Value
}

/** The fields of a class by JSON name, in order. */
export type Fields = Record<string, Field | DefaultedField>

export interface ObjectClass {
  name: string
  /** Its ancestors, nearest first. */
  bases: string[]
  fields: Fields
  /** A strict class rejects unknown fields. Other classes drop them. */
  isStrict?: boolean
}

export const anything: Field = (value) => value

export const text: Field = (value, path) => {
  if (typeof value === 'string') return value
  throw fieldError(path, 'a string')
}

/** Numbers without a fraction, in any notation. */
export const integer: Field = (value, path) => {
  const written = value instanceof JsonNumber ? value.text : value
  if (typeof written === 'string' && /^\s*[+-]?\d{1,4300}\s*$/.test(written))
    return new JsonNumber(BigInt(written).toString())
  if (typeof written === 'string' && Number.isSafeInteger(readNumber(written)))
    return new JsonNumber(String(readNumber(written)))
  if (typeof value === 'boolean') return new JsonNumber(value ? '1' : '0')
  throw fieldError(path, 'an integer')
}

/** Stored with a decimal point, as Python clients store it. */
export const float: Field = (value, path) => {
  const number =
    typeof value === 'boolean' ? Number(value) : readNumber(value instanceof JsonNumber ? value.text : value)
  if (number === undefined) throw fieldError(path, 'a number')
  return new JsonNumber(Number.isInteger(number) && Math.abs(number) < 1e16 ? number.toFixed(1) : String(number))
}

// Digits without a point match in one way only, so that a long text that is not a number is scanned once.
const numberPattern = /^\s*[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?\s*$/i

function readNumber(written: Value): number | undefined {
  if (typeof written !== 'string' || !numberPattern.test(written)) return undefined
  const number = Number(written)
  return Number.isFinite(number) ? number : undefined
}

const truths = new Map<string, boolean>([
  ...['1', 'true', 't', 'yes', 'y', 'on'].map((word) => [word, true] as const),
  ...['0', 'false', 'f', 'no', 'n', 'off'].map((word) => [word, false] as const),
])

export const boolean: Field = (value, path) => {
  if (typeof value === 'boolean') return value
  const word = value instanceof JsonNumber ? String(Number(value.text)) : value
  const truth = typeof word === 'string' ? truths.get(word.toLowerCase()) : undefined
  if (truth === undefined) throw fieldError(path, 'a boolean')
  return truth
}

export function oneOf(...values: string[]): Field {
  return (value, path) => {
    if (typeof value === 'string' && values.includes(value)) return value
    throw fieldError(path, `one of ${values.join(', ')}`)
  }
}

/** Uses the first field that accepts the value. */
export function anyOf(...fields: Field[]): Field {
  return (value, path) => {
    const issues: string[] = []
    for (const field of fields) {
      try {
        return field(value, path)
      } catch (error) {
        if (!(error instanceof FieldError)) throw error
        issues.push(error.message)
      }
    }
    throw new FieldError(issues.join(', or '))
  }
}

export function listOf(item: Field): Field {
  return (value, path) => {
    if (!Array.isArray(value)) throw fieldError(path, 'a list')
    return value.map((part, index) => item(part, `${path}.${index}`))
  }
}

/** A list of exactly these items. */
export function tupleOf(...items: Field[]): Field {
  return (value, path) => {
    if (!Array.isArray(value) || value.length !== items.length) throw fieldError(path, `a list of ${items.length}`)
    return value.map((part, index) => items[index]!(part, `${path}.${index}`))
  }
}

export function mapOf(member: Field): Field {
  return (value, path) => {
    if (!(value instanceof Map)) throw fieldError(path, 'an object')
    return new Map([...value].map(([key, part]) => [key, member(part, `${path}.${key}`)]))
  }
}

export function orNull(field: Field): DefaultedField {
  return { field: (value, path) => (value === null ? null : field(value, path)), value: () => null }
}

export function withDefault(field: Field, value: () => Value): DefaultedField {
  return { field, value }
}

/** An object of a class. It is stored with the members that name the class. */
export function objectOf(objectClass: ObjectClass): Field {
  const { name, bases, fields, isStrict = false } = objectClass
  return (value, path) => {
    if (!(value instanceof Map)) throw fieldError(path, `an object of ${name}`)
    const unknown = isStrict && [...value.keys()].find((key) => !Object.hasOwn(fields, key))
    if (typeof unknown === 'string') throw new FieldError(`${path}.${unknown.slice(0, 100)} is not a known field`)
    const kept = new Map<string, Value>([['_type', name]])
    for (const [key, field] of Object.entries(fields)) kept.set(key, keepField(field, value.get(key), `${path}.${key}`))
    return kept.set('_class_name', name).set('_bases', bases)
  }
}

function keepField(field: Field | DefaultedField, value: Value | undefined, path: string): Value {
  if (typeof field === 'function') {
    if (value === undefined) throw new FieldError(`${path} is required`)
    return field(value, path)
  }
  return value === undefined ? field.value() : field.field(value, path)
}

function fieldError(path: string, expected: string): FieldError {
  return new FieldError(`${path} must be ${expected}`)
}
