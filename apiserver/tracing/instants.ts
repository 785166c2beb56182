import { parseTime } from '../validation/time.ts'

/**
 * A time as clients write it (RFC 3339, 0 to 9 digits of a second's fraction; without a zone it is UTC) in the form that
 * is kept: UTC with microseconds, `2026-01-31T12:00:00.123456Z`. Undefined for any other text.
 */
export function parseInstant(text: string): string | undefined {
  const time = parseTime(text)
  if (!time) return undefined
  const fraction = /\.(\d+)/.exec(text)?.[1] ?? ''
  return `${time.toISOString().slice(0, 19)}.${fraction.slice(0, 6).padEnd(6, '0')}Z`
}

/** Microseconds since 1970 of a time in the kept form. */
export function toMicros(instant: string): number {
  return Date.parse(`${instant.slice(0, 19)}Z`) * 1_000 + Number(instant.slice(20, 26))
}
