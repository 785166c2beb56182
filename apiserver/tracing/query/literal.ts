import { badRequest } from '../errors.ts'
import { parseInstant } from '../instants.ts'
import type { Comparator, Literal } from './expression.ts'

// The same pattern as in tracing.number_or_null.
const numberPattern = /^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$/
const maxNumberLength = 1_000

const booleans = new Map<string | number, boolean>([
  ['true', true],
  ['1', true],
  [1, true],
  ['false', false],
  ['0', false],
  [0, false],
])

type Scalar = string | number | boolean

export function toText(value: Scalar): string {
  return String(value)
}

/** Undefined for a text that is not a number. */
export function toNumber(value: Scalar): number | undefined {
  if (typeof value !== 'string') return Number(value)
  return value.length <= maxNumberLength && numberPattern.test(value) ? Number(value) : undefined
}

/** Converts `true`, `1`, `false` and `0`. Undefined for all other values. */
export function toBoolean(value: Scalar): boolean | undefined {
  return typeof value === 'boolean' ? value : booleans.get(value)
}

const first = Date.parse('0001-01-01T00:00:00Z') / 1_000
const last = Date.parse('9999-12-31T23:59:59Z') / 1_000

/**
 * Converts seconds since 1970, or a text, to a time for Postgres. A date begins at midnight.
 *
 * @throws {HttpError} 400 for an invalid text, because nothing could match it
 */
export function toTime(value: string | number): string {
  if (typeof value === 'string') {
    const time = parseInstant(value) ?? parseInstant(`${value}T00:00:00Z`)
    if (time === undefined) throw badRequest(`${JSON.stringify(value.slice(0, 100))} is not a valid time.`)
    return time
  }
  if (value < first) return '-infinity'
  if (value > last) return 'infinity'
  const seconds = Math.floor(value)
  // A double has a precision of a quarter of a microsecond for today's times.
  const micros = Math.min(Math.round((value - seconds) * 1e6), 999_999)
  return `${new Date(seconds * 1_000).toISOString().slice(0, 19)}.${String(micros).padStart(6, '0')}Z`
}

const comparisons: Record<Comparator, (order: number) => boolean> = {
  $eq: (order) => order === 0,
  $gt: (order) => order > 0,
  $gte: (order) => order >= 0,
  $lt: (order) => order < 0,
  $lte: (order) => order <= 0,
}

/** Evaluates a comparison of two literals. Undefined if one is null. */
export function compareLiterals(comparator: Comparator, left: Literal, right: Literal): boolean | undefined {
  if (left === null || right === null) return comparator === '$eq' ? left === right : undefined
  if (typeof left === 'string' && typeof right === 'string') {
    return comparisons[comparator](Buffer.compare(Buffer.from(left), Buffer.from(right)))
  }
  const cast = typeof left === 'boolean' || typeof right === 'boolean' ? toBoolean : toNumber
  const [a, b] = [cast(left), cast(right)].map((value) => (value === undefined ? undefined : Number(value)))
  if (a === undefined || b === undefined) return false
  return comparisons[comparator](a === b ? 0 : a - b)
}
