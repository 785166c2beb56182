import { JsonNumber } from '../../../lib/json/value.ts'
import { parseInstant } from '../instants.ts'
import type { Keys } from './conventions.ts'
import { findFirst } from './find-attribute.ts'
import type { Members } from './nest.ts'

const latestNanos = 2n ** 64n - 1n

/** Converts nanoseconds since 1970 to the stored form, which has microseconds. */
export function toInstant(nanos: bigint): string {
  const micros = nanos / 1_000n
  const seconds = new Date(Number(micros / 1_000_000n) * 1_000).toISOString().slice(0, 19)
  return `${seconds}.${String(micros % 1_000_000n).padStart(6, '0')}Z`
}

/** Finds a time: a text, integer nanoseconds, or seconds with a fraction. Undefined for other values. */
export function findInstant(attributes: Members, keys: Keys): string | undefined {
  const value = findFirst(attributes, keys)?.[1]
  if (typeof value === 'string') return parseInstant(value)
  const nanos = value instanceof JsonNumber ? toNanos(value) : undefined
  return nanos === undefined || nanos < 0n || nanos > latestNanos ? undefined : toInstant(nanos)
}

function toNanos({ text }: JsonNumber): bigint | undefined {
  if (/^\d{1,20}$/.test(text)) return BigInt(text)
  const micros = Math.round(Number(text) * 1e6)
  return Number.isFinite(micros) ? BigInt(micros) * 1_000n : undefined
}
