import { JsonNumber, type Value } from '../../../lib/json/value.ts'
import type { Keys } from './conventions.ts'
import type { Members } from './nest.ts'

// What does not fit could not be stored, or summed up.
const maxInteger = 2n ** 63n - 1n

/** What stands under the first of the keys that holds something: neither false nor zero nor empty. */
export function findFirst(members: Members, keys: Keys): [key: string, value: Value] | undefined {
  for (const key of keys) {
    const value = findValue(members, key)
    if (holdsSomething(value)) return [key, value]
  }
  return undefined
}

/** The same as a text; a number's is its digits. Undefined for anything else. */
export function findText(members: Members, keys: Keys): string | undefined {
  const value = findFirst(members, keys)?.[1]
  if (typeof value === 'string') return value
  return value instanceof JsonNumber ? value.text : undefined
}

/** The same as an integer; undefined for what is none. */
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

/** Digits in a text are a number too; fractions are cut off. */
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
