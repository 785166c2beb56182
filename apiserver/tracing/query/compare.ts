import type { Comparator, Literal } from './expression.ts'
import { compareLiterals, toBoolean, toNumber, toText, toTime } from './literal.ts'
import {
  cast,
  type Operand,
  type RowsOperand,
  type SqlOperand,
  sqlTypes,
  type ValueOperand,
  type ValueType,
} from './operand.ts'
import type { SqlParams } from './params.ts'
import { ofTruth, unknown, withPair } from './rows.ts'

const symbols: Record<Comparator, string> = { $eq: '=', $gt: '>', $gte: '>=', $lt: '<', $lte: '<=' }
const turned: Record<Comparator, Comparator> = { $eq: '$eq', $gt: '$lt', $gte: '$lte', $lt: '$gt', $lte: '$gte' }

/**
 * SQL that compares two values. Values of the same type compare as in SQL, and null gives null. For different types,
 * one value is cast to the other's type (time before boolean before number before text). If the cast fails, the result
 * is false.
 */
export function compare(comparator: Comparator, [left, right]: [Operand, Operand], params: SqlParams): string {
  if (left.kind === 'rows' && isNull(right)) return comparator === '$eq' ? hasNone(left) : unknown
  if (right.kind === 'rows' && isNull(left)) return comparator === '$eq' ? hasNone(right) : unknown
  return withPair([left, right], (pair) => compareValues(comparator, pair, params))
}

function isNull(operand: Operand): boolean {
  return operand.kind === 'literal' && operand.value === null
}

/** SQL that is true when none of the rows has a value. */
export function hasNone({ rows, each }: RowsOperand): string {
  return `(NOT EXISTS (SELECT 1 FROM ${rows} AND ${each.nullable} IS NOT NULL))`
}

function compareValues(comparator: Comparator, [left, right]: [ValueOperand, ValueOperand], params: SqlParams): string {
  if (left.kind === 'literal') {
    if (right.kind === 'literal') return ofTruth(compareLiterals(comparator, left.value, right.value))
    return compareWith(turned[comparator], right, left.value, params)
  }
  if (right.kind === 'literal') return compareWith(comparator, left, right.value, params)
  const type = findCommonType(left.type, right.type)
  if (!type) return 'FALSE'
  const collation = type === 'text' && comparator !== '$eq' ? ' COLLATE "C"' : ''
  const sql = `(${cast(left, type)} ${symbols[comparator]} ${cast(right, type)}${collation})`
  return left.type === right.type ? sql : `coalesce(${sql}, FALSE)`
}

/**
 * The type in which two values compare. A time and a text compare as texts, because a cast of an invalid time would
 * fail the query.
 */
function findCommonType(a: ValueType, b: ValueType): ValueType | undefined {
  if (a === b) return a
  const has = (type: ValueType) => a === type || b === type
  if (has('time')) return has('boolean') ? undefined : has('number') ? 'number' : 'text'
  return has('boolean') ? 'boolean' : 'number'
}

export function compareWith(comparator: Comparator, operand: SqlOperand, value: Literal, params: SqlParams): string {
  if (value === null) return comparator === '$eq' ? `(${operand.nullable} IS NULL)` : unknown
  const type = findLiteralType(operand.type, value)
  const constant = castLiteral(value, type)
  if (constant === undefined) return 'FALSE'
  const collation = type === 'text' && comparator !== '$eq' ? ' COLLATE "C"' : ''
  const param = `${params.add(constant)}::${sqlTypes[type]}${collation}`
  const sql = `(${cast(operand, type)} ${symbols[comparator]} ${param})`
  return operand.type === type ? sql : `coalesce(${sql}, FALSE)`
}

function findLiteralType(type: ValueType, value: string | number | boolean): ValueType {
  if (type === 'time' || type === 'boolean') return type
  return typeof value === 'string' ? type : (typeof value as 'number' | 'boolean')
}

function castLiteral(value: string | number | boolean, type: ValueType): string | number | boolean | undefined {
  if (type === 'text') return toText(value)
  if (type === 'number') return toNumber(value)
  if (type === 'boolean') return toBoolean(value)
  return typeof value === 'boolean' ? undefined : toTime(value)
}

/** SQL for a substring test. There are no wildcards. Only ASCII letters ignore case. */
export function contains(
  [input, text]: [Operand, Operand],
  { ignoresCase, params }: { ignoresCase: boolean; params: SqlParams },
): string {
  return withPair([input, text], (pair) => containsValue(pair, { ignoresCase, params }))
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
