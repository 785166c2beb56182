import { type Operand, type RowsOperand, type SqlOperand, sqlTypes, type ValueOperand } from './operand.ts'

/** The result of a comparison with a missing value. Its negation is not true either. */
export const unknown = 'NULL'

export function ofTruth(value: boolean | undefined): string {
  if (value === undefined) return unknown
  return value ? 'TRUE' : 'FALSE'
}

/**
 * Compiles a condition on an operand. With several values, it is true if it is true for any of them. For `missing`,
 * which is a literal, `write` must return a constant.
 */
export function withEach(operand: Operand, write: (value: ValueOperand) => string): string {
  if (operand.kind !== 'rows') return write(operand)
  const { rows, filled, each, missing } = operand
  const any = write(each)
  if (write(missing) !== 'TRUE') return `EXISTS (SELECT 1 FROM ${rows} AND ${any})`
  return `(EXISTS (SELECT 1 FROM ${rows} AND ${filled} AND ${any}) OR NOT EXISTS (SELECT 1 FROM ${rows} AND ${filled}))`
}

/**
 * Compiles a condition on two operands. Each operand is written once, at any depth. Otherwise a text that is needed for
 * the values and for their absence would double with each level.
 */
export function withPair(
  [left, right]: [Operand, Operand],
  write: (pair: [ValueOperand, ValueOperand]) => string,
): string {
  if (right.kind === 'literal') return withEach(left, (value) => write([value, right]))
  if (left.kind === 'literal') return withEach(right, (value) => write([left, value]))
  return withJoined(left, (a) => withJoined(right, (b) => write([a, b])))
}

/** Compiles a condition on an operand that is compared with non-literals, or several times. */
export function withJoined(operand: Operand, write: (value: ValueOperand) => string): string {
  return operand.kind === 'rows' ? join(operand, write) : write(operand)
}

/** If no row has a value, the LEFT JOIN gives one row with the missing value. */
function join({ rows, filled, each, missing, alias }: RowsOperand, write: (value: SqlOperand) => string): string {
  const name = `${alias}_value.value`
  const sql = missing.value === null ? name : `coalesce(${name}, '')`
  const values = `(SELECT ${typed(each)} AS value FROM ${rows} AND ${filled} ${fence}) ${alias}_value`
  const condition = write({ kind: 'sql', type: each.type, sql, nullable: name })
  return `EXISTS (SELECT 1 FROM (SELECT 1) one LEFT JOIN LATERAL ${values} ON TRUE WHERE ${condition})`
}

/** Compiles a condition that uses an operand several times. The operand is computed once. */
export function bindOnce(operand: SqlOperand, write: (value: SqlOperand) => string): string {
  const nullable = 'bound.value'
  // A missing member of a document compares as the empty text.
  const sql = operand.sql === operand.nullable ? nullable : `coalesce(${nullable}, '')`
  const value: SqlOperand = { kind: 'sql', type: operand.type, sql, nullable }
  return `(SELECT ${write(value)} FROM (SELECT ${typed(operand)} AS value ${fence}) bound)`
}

/** A bare NULL would have the type text. */
function typed({ nullable, type }: SqlOperand): string {
  return `(${nullable})::${sqlTypes[type]}`
}

// Without this, Postgres would inline the subquery wherever its column is used.
const fence = 'OFFSET 0'
