import type { CastTarget, Literal } from './expression.ts'
import type { Field, JsonField, PlainField } from './field.ts'
import { toBoolean, toNumber, toText } from './literal.ts'
import type { SqlParams } from './params.ts'

export type ValueType = PlainField['kind']

export const sqlTypes: Record<ValueType, string> = {
  text: 'text',
  number: 'float8',
  boolean: 'boolean',
  time: 'timestamptz',
}

export interface SqlOperand {
  kind: 'sql'
  type: ValueType
  sql: string
  /** SQL that is null for a missing value. In `sql`, a missing member of a document is the empty text. */
  nullable: string
}

interface LiteralOperand {
  kind: 'literal'
  value: Literal
}

/** A single value. */
export type ValueOperand = SqlOperand | LiteralOperand

/** The values of a field in several rows. */
export interface RowsOperand {
  kind: 'rows'
  rows: string
  /** The condition for rows that have a value. */
  filled: string
  each: SqlOperand
  /** The value that is used when no row has one. */
  missing: LiteralOperand
  /** The alias of the table in `rows`. */
  alias: string
}

export type Operand = ValueOperand | RowsOperand

export function ofSql(type: ValueType, sql: string): SqlOperand {
  return { kind: 'sql', type, sql, nullable: sql }
}

export function ofField(field: Field, params: SqlParams): Operand {
  if (field.kind !== 'rows') return ofSingle(field, params)
  const value = ofSingle(field.value, params)
  const each = ofSql(value.type, value.nullable)
  const filled = `${value.nullable} IS NOT NULL`
  const { rows, alias } = field
  return { kind: 'rows', rows, filled, each, missing: { kind: 'literal', value: '' }, alias }
}

function ofSingle(field: PlainField | JsonField, params: SqlParams): SqlOperand {
  if (field.kind !== 'json') return ofSql(field.kind, field.sql)
  const nullable = readJson(field, params)
  return { kind: 'sql', type: 'text', sql: `coalesce(${nullable}, '')`, nullable }
}

// Postgres resolves a negative index with the length of the first array on the path, which may be another array.
const negative = /^\s*-\d+$/

/** SQL of the text at a path in a document. Null if it is missing or null. */
export function readJson({ sql, path }: JsonField, params: SqlParams): string {
  const index = path.findIndex((segment) => negative.test(segment))
  if (index === -1) return `(${sql} #>> ${params.add(path)}::text[])`
  const held = `((${sql} #> ${params.add(path.slice(0, index))}::text[]) -> ${params.add(path[index])}::text)`
  return readJson({ kind: 'json', sql: held, path: path.slice(index + 1) }, params)
}

const castTypes = { double: 'number', int: 'number', string: 'text', bool: 'boolean' } as const

/** Applies `$convert`. The result is null if the cast fails. */
export function convert(operand: Operand, to: CastTarget): Operand {
  if (operand.kind === 'literal') return convertLiteral(operand, to)
  if (operand.kind === 'sql') return convertSql(operand, to)
  if (to === 'exists')
    return ofSql('boolean', `EXISTS (SELECT 1 FROM ${operand.rows} AND ${operand.each.nullable} IS NOT NULL)`)
  return { ...operand, each: convertSql(operand.each, to), missing: convertLiteral(operand.missing, to) }
}

function convertSql(operand: SqlOperand, to: CastTarget): SqlOperand {
  if (to === 'exists') return ofSql('boolean', `(${operand.nullable} IS NOT NULL)`)
  const type = castTypes[to]
  if (to === 'int') return ofSql(type, `trunc(${cast(operand, type)})`)
  return operand.type === type ? operand : ofSql(type, cast(operand, type))
}

function convertLiteral({ value }: LiteralOperand, to: CastTarget): LiteralOperand {
  return { kind: 'literal', value: convertScalar(value, to) }
}

function convertScalar(value: Literal, to: CastTarget): Literal {
  if (to === 'exists') return value !== null
  if (value === null) return null
  if (to === 'string') return toText(value)
  if (to === 'bool') return toBoolean(value) ?? null
  const number = toNumber(value) ?? null
  return to === 'int' && number !== null ? Math.trunc(number) : number
}

/** Casts an SQL value to a type. The result is null if the cast fails. */
export function cast({ type, sql }: SqlOperand, target: ValueType): string {
  return type === target ? sql : casts[target][type](sql)
}

const none = () => 'NULL'
const same = (sql: string) => sql

const casts: Record<ValueType, Record<ValueType, (sql: string) => string>> = {
  text: {
    text: same,
    number: (sql) => `(${sql})::text`,
    boolean: (sql) => `(${sql})::text`,
    time: (sql) => `to_char(${sql} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`,
  },
  number: {
    text: (sql) => `tracing.number_or_null(${sql})`,
    number: same,
    boolean: (sql) => `(${sql})::int`,
    time: (sql) => `extract(epoch FROM ${sql})::float8`,
  },
  boolean: {
    text: (sql) =>
      `CASE ${sql} WHEN 'true' THEN TRUE WHEN '1' THEN TRUE WHEN 'false' THEN FALSE WHEN '0' THEN FALSE END`,
    number: (sql) => `CASE ${sql} WHEN 1 THEN TRUE WHEN 0 THEN FALSE END`,
    boolean: same,
    time: none,
  },
  time: { text: none, number: none, boolean: none, time: same },
}
