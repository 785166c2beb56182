import { parseTime } from '../../lib/http/validation/time.ts'

// SDKs write times like this. The days exist in every month, so nothing needs to be computed.
const commonInstant =
  /^[1-9]\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?Z$/

/**
 * Parses a client's time (RFC 3339, up to 9 digits of fractional seconds, UTC if it has no zone). Returns it in the
 * stored form: UTC with microseconds, `2026-01-31T12:00:00.123456Z`. Undefined for any other text.
 */
export function parseInstant(text: string): string | undefined {
  if (commonInstant.test(text)) return `${text.slice(0, 19)}.${text.slice(20, -1).slice(0, 6).padEnd(6, '0')}Z`
  const time = parseTime(text)
  if (!time) return undefined
  const fraction = /\.(\d+)/.exec(text)?.[1] ?? ''
  return `${time.toISOString().slice(0, 19)}.${fraction.slice(0, 6).padEnd(6, '0')}Z`
}

/** Converts a time in the stored form to microseconds since 1970. */
export function toMicros(instant: string): number {
  return Date.parse(`${instant.slice(0, 19)}Z`) * 1_000 + Number(instant.slice(20, 26))
}
