import { compare, compareWith, hasNone } from './compare.ts'
import type { Literal } from './expression.ts'
import { compareLiterals } from './literal.ts'
import { cast, type Operand, type ValueOperand } from './operand.ts'
import type { SqlParams } from './params.ts'
import { ofTruth, withEach, withJoined } from './rows.ts'
import { writeParts } from './sql-size.ts'

/** SQL for `$in`. The result is that of `$eq` with each value. Texts and numbers are compared with one list each. */
export function isIn([input, list]: [Operand, Operand[]], params: SqlParams): string {
  const values = [...new Set(list.flatMap((item) => (item.kind === 'literal' ? [item.value] : [])))]
  const others = list.filter((item) => item.kind !== 'literal')
  // Null matches when no row has a value. A list of values cannot express that.
  const asksForNone = input.kind === 'rows' && values.includes(null)
  const listed = asksForNone ? values.filter((value) => value !== null) : values
  const parts = [withEach(input, (value) => isInLiterals(value, listed, params))]
  if (asksForNone) parts.push(hasNone(input))
  if (others.length > 0) parts.push(withJoined(input, (value) => isInOthers(value, others, params)))
  return joinAny(parts)
}

function isInOthers(input: ValueOperand, others: Operand[], params: SqlParams): string {
  return joinAny(writeParts(others, (item) => compare('$eq', [input, item], params)))
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
  const parts = writeParts(
    values.filter((value) => !isListed(value)),
    (value) => compareWith('$eq', input, value, params),
  )
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
