import { JsonNumber, type Value } from '../../../lib/json/value.ts'
import type { Keys } from './conventions.ts'
import type { Members } from './nest.ts'

// A larger integer could not be stored, nor added to others.
const maxInteger = 2n ** 63n - 1n

/** Finds the first key with a value. False, zero and empty values do not count. */
export function findFirst(members: Members, keys: Keys): [key: string, value: Value] | undefined {
  for (const key of keys) {
    const value = findValue(members, key)
    if (holdsSomething(value)) return [key, value]
  }
  return undefined
}

/** Finds a value as a text. A number becomes its digits. Undefined for other types. */
export function findText(members: Members, keys: Keys): string | undefined {
  const value = findFirst(members, keys)?.[1]
  if (typeof value === 'string') return value
  return value instanceof JsonNumber ? value.text : undefined
}

/** Finds a value as an integer. Undefined for other types. */
export function findInteger(members: Members, keys: Keys): bigint | undefined {
  const found = findFirst(members, keys)
  return found && toInteger(found[1])
}

function findValue(members: Members, key: string): Value | undefined {
  let value: Value | undefined = members
  for (const part of key.split('.')) {
    if (Array.isArray(value) && /^\d{1,9}$/.test(part)) value = value[Number(part)]
    else if (value instanceof Map) value = value.get(part)
    else return undefined
  }
  return value
}

function holdsSomething(value: Value | undefined): value is Value {
  if (value instanceof JsonNumber) return Number(value.text) !== 0
  if (value instanceof Map) return value.size > 0
  return Array.isArray(value) ? value.length > 0 : Boolean(value)
}

/** Accepts digits in a text. Truncates fractions. */
function toInteger(value: Value): bigint | undefined {
  if (value === true) return 1n
  const text = value instanceof JsonNumber ? value.text : value
  if (typeof text !== 'string') return undefined
  if (/^\s*[+-]?\d{1,30}\s*$/.test(text)) return inRange(BigInt(text.trim().replace(/^\+/, '')))
  const number = value instanceof JsonNumber ? Math.trunc(Number(text)) : Number.NaN
  return Number.isFinite(number) ? inRange(BigInt(number)) : undefined
}

function inRange(integer: bigint): bigint | undefined {
  return integer <= maxInteger && integer >= -maxInteger ? integer : undefined
}
