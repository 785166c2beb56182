import { type Operand, type RowsOperand, type SqlOperand, sqlTypes, type ValueOperand } from './operand.ts'

/** What comparisons with nothing are: neither true nor, negated, true. */
export const unknown = 'NULL'

export function ofTruth(value: boolean | undefined): string {
  if (value === undefined) return unknown
  return value ? 'TRUE' : 'FALSE'
}

/**
 * SQL that is true when a condition is, for an operand's value: of several values, for any of them. What is written for
 * their absence must be a constant, as it is of literals alone.
 */
export function withEach(operand: Operand, write: (value: ValueOperand) => string): string {
  if (operand.kind !== 'rows') return write(operand)
  const { rows, filled, each, missing } = operand
  const any = write(each)
  if (write(missing) !== 'TRUE') return `EXISTS (SELECT 1 FROM ${rows} AND ${any})`
  return `(EXISTS (SELECT 1 FROM ${rows} AND ${filled} AND ${any}) OR NOT EXISTS (SELECT 1 FROM ${rows} AND ${filled}))`
}

/**
 * The same for two operands. Each is written once however they are nested: a text that stood for the values and again for
 * their absence would double with each level.
 */
export function withPair(
  [left, right]: [Operand, Operand],
  write: (pair: [ValueOperand, ValueOperand]) => string,
): string {
  if (right.kind === 'literal') return withEach(left, (value) => write([value, right]))
  if (left.kind === 'literal') return withEach(right, (value) => write([left, value]))
  return withJoined(left, (a) => withJoined(right, (b) => write([a, b])))
}

/** The same for one operand that is compared with what is no literal, or with several. */
export function withJoined(operand: Operand, write: (value: ValueOperand) => string): string {
  return operand.kind === 'rows' ? join(operand, write) : write(operand)
}

/** Where no row has a value there is one row still, of the missing one. */
function join({ rows, filled, each, missing, alias }: RowsOperand, write: (value: SqlOperand) => string): string {
  const name = `${alias}_value.value`
  const sql = missing.value === null ? name : `coalesce(${name}, '')`
  const values = `(SELECT ${typed(each)} AS value FROM ${rows} AND ${filled} ${fence}) ${alias}_value`
  const condition = write({ kind: 'sql', type: each.type, sql, nullable: name })
  return `EXISTS (SELECT 1 FROM (SELECT 1) one LEFT JOIN LATERAL ${values} ON TRUE WHERE ${condition})`
}

/** SQL of a condition in which an operand stands several times, although it is written and computed once. */
export function bindOnce(operand: SqlOperand, write: (value: SqlOperand) => string): string {
  const nullable = 'bound.value'
  // A place in a document: a missing one compares as the empty text.
  const sql = operand.sql === operand.nullable ? nullable : `coalesce(${nullable}, '')`
  const value: SqlOperand = { kind: 'sql', type: operand.type, sql, nullable }
  return `(SELECT ${write(value)} FROM (SELECT ${typed(operand)} AS value ${fence}) bound)`
}

/** A bare NULL would be a text. */
function typed({ nullable, type }: SqlOperand): string {
  return `(${nullable})::${sqlTypes[type]}`
}

// Postgres puts the text of a subquery into each place where it is named, unless it has this.
const fence = 'OFFSET 0'
