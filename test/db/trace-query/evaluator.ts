import { readField, type Context, type Scalar, type Several, type Value } from './evaluated-fields.ts'
import type { Written } from './queries.ts'

// Evaluates the query language, as it is documented, on rows in memory. It shares no code with the compiler.

type Truth = boolean | null

/** A text that is compared with a time and is not a valid time. */
export class NoTime extends Error {}

export function evaluate(query: Written, context: Context): Truth {
  const [[operator, content] = ['', undefined]] = Object.entries(query)
  const read = (written: unknown) => operand(written as Written, context)
  const all = (written: unknown) => (written as Written[]).map((part) => truthOf(read(part)))
  if (operator === '$and') return and(all(content))
  if (operator === '$or') return or(all(content))
  if (operator === '$not') return not(all(content)[0]!)
  if (operator === '$contains') return contains(content as Written, read)
  if (operator === '$in') {
    const [input, list] = content as [Written, Written[]]
    const value = read(input)
    return or(list.map((item) => compare('$eq', value, read(item))))
  }
  const [left, right] = (content as [Written, Written]).map(read)
  return compare(operator, left!, right!)
}

function operand(written: Written, context: Context): Value | Several {
  if ('$literal' in written) return { type: 'literal', value: written['$literal'] as Scalar | null }
  if ('$getField' in written) return readField(written['$getField'] as string, context)
  if (!('$convert' in written)) return { type: 'boolean', value: evaluate(written, context) }
  const { input, to } = written['$convert'] as { input: Written; to: string }
  const value = operand(input, context)
  if (value.type !== 'several') return convert(value, to)
  if (to === 'exists') return { type: 'boolean', value: !value.values.every(isMissing) }
  return { type: 'several', values: value.values.map((each) => convert(each, to)) }
}

function and(truths: Truth[]): Truth {
  if (truths.includes(false)) return false
  return truths.includes(null) ? null : true
}

function or(truths: Truth[]): Truth {
  if (truths.includes(true)) return true
  return truths.includes(null) ? null : false
}

const not = (truth: Truth) => (truth === null ? null : !truth)

function contains({ input, substr, case_insensitive: ignoresCase }: Written, read: (part: unknown) => Value | Several) {
  const lower = (text: string) => (ignoresCase ? text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()) : text)
  return forAny([read(input), read(substr)], (a, b) => {
    const [text, part] = [toText(a), toText(b)]
    return text === null || part === null ? null : lower(text).includes(lower(part))
  })
}

/**
 * A condition on several values is true if it is true for any of them, and otherwise false. Without values, '' is
 * compared.
 */
function forAny([left, right]: [Value | Several, Value | Several], ask: (a: Value, b: Value) => Truth): Truth {
  if (left.type === 'several') return left.values.some((value) => forAny([value, right], ask) === true)
  if (right.type === 'several') return right.values.some((value) => ask(left, value) === true)
  return ask(left, right)
}

function truthOf(value: Value | Several): Truth {
  if (value.type === 'several') return value.values.some((each) => toBoolean(each) === true)
  return toBoolean(value)
}

function isNullLiteral(value: Value | Several): boolean {
  return value.type === 'literal' && value.value === null
}

function compare(operator: string, left: Value | Several, right: Value | Several): Truth {
  for (const [value, other] of [
    [left, right],
    [right, left],
  ] as const) {
    if (!isNullLiteral(other)) continue
    if (operator !== '$eq') return null
    return value.type === 'several' ? value.values.every(isMissing) : isMissing(value)
  }
  return forAny([left, right], (a, b) => compareValues(operator, a, b))
}

function isMissing(value: Value): boolean {
  return value.value === null || (value.type === 'text' && value.isMissing === true)
}

function compareValues(operator: string, a: Value, b: Value): Truth {
  if (isNullLiteral(a) || isNullLiteral(b)) return operator === '$eq' ? isMissing(a) && isMissing(b) : null
  if (a.type === 'literal' && b.type !== 'literal') return compareValues(turn(operator), b, a)
  const type = meetingType(a, b)
  const isCast = b.type !== 'literal' && a.type !== b.type
  const [x, y] = [castTo(type, a), castTo(type, b)]
  if (b.type === 'literal' && y === null) return false
  if (x === null || y === null) return isCast || kindOf(a) !== type ? false : null
  return holds(operator, orderOf(x, y))
}

const turn = (operator: string) => ({ $gt: '$lt', $lt: '$gt', $gte: '$lte', $lte: '$gte' })[operator] ?? operator

function kindOf(value: Value): string {
  if (value.type !== 'literal') return value.type
  return typeof value.value === 'string' ? 'text' : typeof value.value
}

function meetingType(a: Value, b: Value): string {
  const kinds = [kindOf(a), kindOf(b)]
  if (kinds[0] === kinds[1]) return kinds[0]!
  if (!kinds.includes('time')) return kinds.includes('boolean') ? 'boolean' : 'number'
  if (kinds.includes('boolean')) return 'nothing'
  if (b.type === 'literal') return 'time'
  return kinds.includes('number') ? 'number' : 'text'
}

function castTo(type: string, value: Value): Scalar | null {
  if (type === 'text') return toText(value)
  if (type === 'number') return toNumber(value)
  if (type === 'boolean') return toBoolean(value)
  return type === 'time' ? toTime(value) : null
}

function orderOf(x: Scalar, y: Scalar): number {
  if (typeof x === 'string') return compareTexts(x, y as string)
  return Number(x) === Number(y) ? 0 : Number(x) - Number(y)
}

function holds(operator: string, order: number): boolean {
  if (operator === '$eq') return order === 0
  if (operator === '$gt') return order > 0
  if (operator === '$gte') return order >= 0
  return operator === '$lt' ? order < 0 : order <= 0
}

export function compareTexts(x: string, y: string): number {
  const [a, b] = [x, y].map((text) => Array.from(text, (character) => character.codePointAt(0)!))
  for (let index = 0; index < Math.max(a!.length, b!.length); index++) {
    const difference = (a![index] ?? -1) - (b![index] ?? -1)
    if (difference !== 0) return difference
  }
  return 0
}

function convert(value: Value, to: string): Value {
  if (to === 'exists') return { type: asWas(value, 'boolean'), value: !isMissing(value) } as Value
  if (to === 'string')
    return value.type === 'text' ? value : ({ type: asWas(value, 'text'), value: toText(value) } as Value)
  if (to === 'bool') return { type: asWas(value, 'boolean'), value: toBoolean(value) } as Value
  const number = toNumber(value)
  return { type: asWas(value, 'number'), value: to === 'int' && number !== null ? Math.trunc(number) : number } as Value
}

/** A converted literal is still a literal. */
const asWas = (value: Value, type: string) => (value.type === 'literal' ? 'literal' : type)

function toText(value: Value): string | null {
  if (value.value === null) return null
  if (value.type === 'time') return instantOf(value.value)
  return value.type === 'number' ? writeDouble(value.value) : String(value.value)
}

/** Writes a double as Postgres does. */
function writeDouble(value: number): string {
  if (Object.is(value, -0)) return '-0'
  const [digits = '', exponent = ''] = value.toExponential().split('e')
  if (!Number.isFinite(value) || (Number(exponent) >= -4 && Number(exponent) < 15)) return String(value)
  const power = String(Math.abs(Number(exponent))).padStart(2, '0')
  return `${digits}e${exponent.startsWith('-') ? '-' : '+'}${power}`
}

function instantOf(micros: number): string {
  const seconds = Math.floor(micros / 1e6)
  return `${new Date(seconds * 1_000).toISOString().slice(0, 19)}.${String(micros - seconds * 1e6).padStart(6, '0')}Z`
}

function toNumber(value: Value): number | null {
  if (value.value === null) return null
  if (value.type === 'time') return value.value / 1e6
  return typeof value.value === 'string' ? readNumber(value.value) : Number(value.value)
}

export function readNumber(text: string): number | null {
  return text.length <= 1_000 && /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : null
}

function toBoolean({ type, value }: Value): boolean | null {
  if (type === 'time') return null
  if (value === true || value === 'true' || value === '1' || value === 1) return true
  return value === false || value === 'false' || value === '0' || value === 0 ? false : null
}

function toTime({ type, value }: Value): number | null {
  if (type === 'time' || value === null || typeof value === 'boolean') return value as number | null
  if (typeof value === 'number') return Number.isFinite(value) ? Math.round(value * 1e6) : value
  const [, day, time = '00:00:00', fraction = '', zone = 'Z'] =
    /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)?)?$/.exec(value) ?? []
  if (day === undefined) throw new NoTime(value)
  return Date.parse(`${day}T${time}${zone}`) * 1_000 + Number(fraction.slice(0, 6).padEnd(6, '0'))
}
