import type { Comparator, Literal } from './expression.ts'
import { compareLiterals, toBoolean, toNumber, toText, toTime } from './literal.ts'
import {
  cast,
  type MissingOperand,
  type Operand,
  type RowsOperand,
  type SqlOperand,
  type ValueOperand,
  type ValueType,
} from './operand.ts'
import type { SqlParams } from './params.ts'

const symbols: Record<Comparator, string> = { $eq: '=', $gt: '>', $gte: '>=', $lt: '<', $lte: '<=' }
const turned: Record<Comparator, Comparator> = { $eq: '$eq', $gt: '$lt', $gte: '$lte', $lt: '$gt', $lte: '$gte' }
const sqlTypes: Record<ValueType, string> = { text: 'text', number: 'float8', boolean: 'boolean', time: 'timestamptz' }

/** What comparisons with nothing are: neither true nor, negated, true. */
const unknown = 'NULL'

export function ofTruth(value: boolean | undefined): string {
  if (value === undefined) return unknown
  return value ? 'TRUE' : 'FALSE'
}

/**
 * Two values of one type compare as in SQL: with null, there is no answer. Of values of different types one is read as
 * the other's type (time, then boolean, then number, then text), and where it cannot be, the comparison is false.
 */
export function compare(comparator: Comparator, [left, right]: [Operand, Operand], params: SqlParams): string {
  if (left.kind === 'rows' && isNull(right)) return comparator === '$eq' ? hasNone(left) : unknown
  if (right.kind === 'rows' && isNull(left)) return comparator === '$eq' ? hasNone(right) : unknown
  return withEach(left, (a) => withEach(right, (b) => compareValues(comparator, settle(a, b), params)))
}

function isNull(operand: Operand): boolean {
  return operand.kind === 'literal' && operand.value === null
}

function hasNone({ rows, each }: RowsOperand): string {
  return `(NOT EXISTS (SELECT 1 FROM ${rows} AND ${each.nullable} IS NOT NULL))`
}

type OneOperand = ValueOperand | MissingOperand

/** SQL that is true when a condition is, for an operand's value: of several values, for any of them. */
export function withEach(operand: Operand, write: (value: OneOperand) => string): string {
  if (operand.kind !== 'rows') return write(operand)
  const { rows, filled, each, missing } = operand
  const [any, without] = [write(each), write(missing)]
  if (without === 'FALSE' || without === unknown) return `EXISTS (SELECT 1 FROM ${rows} AND ${any})`
  const isEmpty = `NOT EXISTS (SELECT 1 FROM ${rows} AND ${filled})`
  return `(EXISTS (SELECT 1 FROM ${rows} AND ${filled} AND ${any}) OR (${isEmpty} AND ${without} IS TRUE))`
}

/** What is missing beside a literal is one: then it is known here whether a condition holds for it. */
function settle(left: OneOperand, right: OneOperand): [ValueOperand, ValueOperand] {
  const form = (operand: OneOperand, other: OneOperand) => {
    if (operand.kind !== 'missing') return operand
    return other.kind === 'literal' ? operand.literal : operand.sql
  }
  return [form(left, right), form(right, left)]
}

function compareValues(comparator: Comparator, [left, right]: [ValueOperand, ValueOperand], params: SqlParams): string {
  if (left.kind === 'literal') {
    if (right.kind === 'literal') return ofTruth(compareLiterals(comparator, left.value, right.value))
    return compareWith(turned[comparator], right, left.value, params)
  }
  if (right.kind === 'literal') return compareWith(comparator, left, right.value, params)
  const type = meet(left.type, right.type)
  if (!type) return 'FALSE'
  const collation = type === 'text' && comparator !== '$eq' ? ' COLLATE "C"' : ''
  const sql = `(${cast(left, type)} ${symbols[comparator]} ${cast(right, type)}${collation})`
  return left.type === right.type ? sql : `coalesce(${sql}, FALSE)`
}

/** The type in which two compare. Times compare with texts as texts: a text that is no time must not fail the query. */
function meet(a: ValueType, b: ValueType): ValueType | undefined {
  if (a === b) return a
  const has = (type: ValueType) => a === type || b === type
  if (has('time')) return has('boolean') ? undefined : has('number') ? 'number' : 'text'
  return has('boolean') ? 'boolean' : 'number'
}

function compareWith(comparator: Comparator, operand: SqlOperand, value: Literal, params: SqlParams): string {
  if (value === null) return comparator === '$eq' ? `(${operand.nullable} IS NULL)` : unknown
  const type = meetLiteral(operand.type, value)
  const constant = castLiteral(value, type)
  if (constant === undefined) return 'FALSE'
  const collation = type === 'text' && comparator !== '$eq' ? ' COLLATE "C"' : ''
  const param = `${params.add(constant)}::${sqlTypes[type]}${collation}`
  const sql = `(${cast(operand, type)} ${symbols[comparator]} ${param})`
  return operand.type === type ? sql : `coalesce(${sql}, FALSE)`
}

function meetLiteral(type: ValueType, value: string | number | boolean): ValueType {
  if (type === 'time' || type === 'boolean') return type
  return typeof value === 'string' ? type : (typeof value as 'number' | 'boolean')
}

function castLiteral(value: string | number | boolean, type: ValueType): string | number | boolean | undefined {
  if (type === 'text') return toText(value)
  if (type === 'number') return toNumber(value)
  if (type === 'boolean') return toBoolean(value)
  return typeof value === 'boolean' ? undefined : toTime(value)
}

/** Whether a value is one of several, as `$eq` would tell of each; texts and numbers are looked for as one list. */
export function isIn([input, list]: [Operand, Operand[]], params: SqlParams): string {
  // Several values together are nothing, or not: no list of values tells that.
  const isListed = (item: Operand) => item.kind === 'literal' && !(input.kind === 'rows' && isNull(item))
  const rest = list.filter((item) => !isListed(item))
  const literals = list.filter(isListed).flatMap((item) => (item.kind === 'literal' ? [item.value] : []))
  const found = withEach(input, (value) => {
    return isInLiterals(value.kind === 'missing' ? value.literal : value, literals, params)
  })
  const parts = [found, ...rest.map((item) => compare('$eq', [input, item], params))]
  return joinAny(parts)
}

function isInLiterals(input: ValueOperand, values: Literal[], params: SqlParams): string {
  if (input.kind === 'literal')
    return joinAny(values.map((value) => ofTruth(compareLiterals('$eq', input.value, value))))
  const isListed = (value: Literal) =>
    (typeof value === 'string' && input.type === 'text') ||
    (typeof value === 'number' && (input.type === 'text' || input.type === 'number'))
  const [texts, numbers] = (['string', 'number'] as const).map((type) =>
    values.filter((value) => typeof value === type && isListed(value)),
  )
  const parts = values.filter((value) => !isListed(value)).map((value) => compareWith('$eq', input, value, params))
  if (texts!.length > 0) parts.push(`(${input.sql} = ANY (${params.add(texts)}::text[]))`)
  if (numbers!.length > 0) {
    const sql = `(${cast(input, 'number')} = ANY (${params.add(numbers)}::float8[]))`
    parts.push(input.type === 'number' ? sql : `coalesce(${sql}, FALSE)`)
  }
  return joinAny(parts)
}

function joinAny(parts: string[]): string {
  const [first = 'FALSE', ...rest] = parts.filter((part) => part !== 'FALSE')
  if (first === 'TRUE' || rest.length === 0) return first
  return `(${[first, ...rest].join(' OR ')})`
}

/** Whether a text holds another one, every character of which stands for itself. Only ASCII letters have two cases. */
export function contains(
  [input, text]: [Operand, Operand],
  { ignoresCase, params }: { ignoresCase: boolean; params: SqlParams },
): string {
  return withEach(input, (a) => withEach(text, (b) => containsValue(settle(a, b), { ignoresCase, params })))
}

function containsValue(
  [input, text]: [ValueOperand, ValueOperand],
  { ignoresCase, params }: { ignoresCase: boolean; params: SqlParams },
): string {
  if (isNull(input) || isNull(text)) return unknown
  if (input.kind === 'literal' && text.kind === 'literal') {
    const [a, b] = [input, text].map(({ value }) => (ignoresCase ? lower(toText(value!)) : toText(value!)))
    return ofTruth(a!.includes(b!))
  }
  const write = (operand: ValueOperand) => {
    const sql = operand.kind === 'sql' ? cast(operand, 'text') : `${params.add(toText(operand.value!))}::text`
    return ignoresCase ? `lower(${sql} COLLATE "C")` : sql
  }
  const a = write(input)
  return `(strpos(${a}, ${write(text)}) > 0)`
}

function lower(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())
}
