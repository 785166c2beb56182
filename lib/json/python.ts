import { JsonNumber, type Value } from './value.ts'

/** Python writes an exponent from 1e16 on, and below 1e-4. */
const maxPlainExponent = 16
const minPlainExponent = -4

// JSON.stringify writes these as they are; Python escapes them.
const otherThanAscii = /[\u007f-\uffff]/g
// Replacing this many units at once needs one or two megabytes. The longest text at once would need half a gigabyte.
const unitsAtOnce = 64 * 1024

/**
 * Writes the text of Python's `json.dumps(json.loads(text), sort_keys=True)`. Digests are computed from this form. With
 * `as-is`, keys keep their order.
 */
export function toPythonJson(value: Value, order: 'sorted' | 'as-is' = 'sorted'): string {
  if (typeof value === 'string') return quoteText(value)
  if (value instanceof JsonNumber) return writeNumber(value.text)
  if (Array.isArray(value)) return `[${value.map((item) => toPythonJson(item, order)).join(', ')}]`
  if (!(value instanceof Map)) return String(value)
  const members = order === 'sorted' ? [...value.keys()].sort(compareByCodePoints) : [...value.keys()]
  return `{${members.map((key) => `${quoteText(key)}: ${toPythonJson(value.get(key)!, order)}`).join(', ')}}`
}

function quoteText(text: string): string {
  const quoted = JSON.stringify(text)
  if (quoted.length <= unitsAtOnce) return escapeUnits(quoted)
  let escaped = ''
  for (let at = 0; at < quoted.length; at += unitsAtOnce) escaped += escapeUnits(quoted.slice(at, at + unitsAtOnce))
  return escaped
}

function escapeUnits(quoted: string): string {
  return quoted.replace(otherThanAscii, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Integers keep all digits. A number with a point or an exponent is a float. */
function writeNumber(text: string): string {
  if (!/[.eE]/.test(text)) return text === '-0' ? '0' : text
  const number = Number(text)
  if (!Number.isFinite(number)) return number < 0 ? '-Infinity' : 'Infinity'
  return writeFloat(number)
}

/** JavaScript and Python choose the same digits: the fewest that read back as the same number. The notation differs. */
function writeFloat(number: number): string {
  const sign = number < 0 || Object.is(number, -0) ? '-' : ''
  const [digits = '', exponentText] = Math.abs(number).toExponential().split('e')
  const exponent = Number(exponentText)
  if (exponent < minPlainExponent || exponent >= maxPlainExponent)
    return `${sign}${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
  return sign + insertPoint(digits.replace('.', ''), exponent)
}

function insertPoint(digits: string, exponent: number): string {
  if (exponent < 0) return `0.${'0'.repeat(-exponent - 1)}${digits}`
  return `${digits.slice(0, exponent + 1).padEnd(exponent + 1, '0')}.${digits.slice(exponent + 1) || '0'}`
}

/** JavaScript compares UTF-16 units, which order characters beyond U+FFFF before some below it. */
export function compareByCodePoints(left: string, right: string): number {
  const length = Math.min(left.length, right.length)
  for (let index = 0; index < length; index++) {
    const [ours, theirs] = [left.charCodeAt(index), right.charCodeAt(index)]
    if (ours !== theirs) return rank(ours) - rank(theirs)
  }
  return left.length - right.length
}

/** Surrogates come after all other units. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}
