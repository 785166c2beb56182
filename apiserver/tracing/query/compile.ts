import { badRequest } from '../errors.ts'
import { isIn } from './in-operator.ts'
import { compare, contains } from './compare.ts'
import { readExpression, type Expression } from './expression.ts'
import type { Field, Fields, JsonField, PlainField } from './field.ts'
import { toBoolean } from './literal.ts'
import { cast, convert, ofField, ofSql, readJson, type Operand } from './operand.ts'
import type { SqlParams } from './params.ts'
import { bindOnce, ofTruth, withEach } from './rows.ts'
import type { SortKey } from './schema.ts'
import { checkSize, writeParts } from './sql-size.ts'

/**
 * Compiles a query's `$expr` to SQL. It is true for rows that match, and false or null for others.
 *
 * @throws {HttpError} 422 for an unknown operation, 403 for unknown fields, 400 for values that cannot be compared
 */
export function compileCondition(expr: unknown, fields: Fields, params: SqlParams): string {
  const expression = readExpression(expr)
  return params.keepUsed(() => new ConditionCompiler(fields, params).condition(expression))
}

class ConditionCompiler {
  readonly #fields: Fields
  readonly #params: SqlParams

  constructor(fields: Fields, params: SqlParams) {
    this.#fields = fields
    this.#params = params
  }

  condition(expression: Expression): string {
    return checkSize(this.#write(expression))
  }

  #write(expression: Expression): string {
    switch (expression.kind) {
      case 'and':
        return this.#join(expression.operands, ' AND ')
      case 'or':
        return this.#join(expression.operands, ' OR ')
      case 'not':
        return `(NOT ${this.condition(expression.operand)})`
      case 'compare': {
        const pair: [Operand, Operand] = [this.#operand(expression.left), this.#operand(expression.right)]
        return compare(expression.comparator, pair, this.#params)
      }
      case 'in':
        return this.#isIn(expression)
      case 'contains': {
        const pair: [Operand, Operand] = [this.#operand(expression.input), this.#operand(expression.text)]
        return contains(pair, { ignoresCase: expression.ignoresCase, params: this.#params })
      }
      default:
        return holds(this.#operand(expression))
    }
  }

  #join(operands: Expression[], connective: string): string {
    const conditions = writeParts(operands, (operand) => this.condition(operand))
    return conditions.length === 1 ? conditions[0]! : `(${conditions.join(connective)})`
  }

  #isIn({ input, list }: Extract<Expression, { kind: 'in' }>): string {
    const items = list.map((item) => this.#operand(item))
    const operand = this.#operand(input)
    const isComputed = operand.kind === 'sql' && input.kind !== 'field'
    const write = (value: Operand) => isIn([value, items], this.#params)
    return isComputed ? bindOnce(operand, write) : write(operand)
  }

  #operand(expression: Expression): Operand {
    if (expression.kind === 'literal') return expression
    if (expression.kind === 'field') return ofField(this.#fields.resolve(expression.path), this.#params)
    if (expression.kind !== 'convert') return ofSql('boolean', this.condition(expression))
    return convert(this.#operand(expression.input), expression.to)
  }
}

/** Compiles a value as a condition. */
function holds(operand: Operand): string {
  return withEach(operand, (value) => {
    if (value.kind === 'sql') return `(${cast(value, 'boolean')})`
    return ofTruth(value.value === null ? undefined : toBoolean(value.value))
  })
}

// Postgres allows at most 1,664 sort expressions in a statement.
const maxSortKeys = 100
// Postgres plans the sort once for each week of calls. A key has some hundred bytes.
const maxSortLength = 32 * 1024

/**
 * Compiles an ORDER BY list; empty for no keys. Values in documents sort as numbers first, then as texts, each in the
 * wanted direction. Missing values come last in both directions.
 */
export function compileSort(sortBy: readonly SortKey[], fields: Fields, params: SqlParams): string {
  if (sortBy.length > maxSortKeys) throw badRequest(`Sort by at most ${maxSortKeys} fields.`)
  const write = ({ field, direction }: SortKey) => sortByField(fields.resolve(field), direction, params)
  return writeParts(sortBy, write, maxSortLength).join(', ')
}

function sortByField(field: Field, wanted: SortKey['direction'], params: SqlParams): string {
  const direction = wanted === 'desc' ? 'DESC' : 'ASC'
  const isDynamic = field.kind === 'json' || field.kind === 'rows'
  // In ascending order, nulls are last by default. An index serves only its own order and the reverse.
  const nulls = !isDynamic && (field.neverNull || direction === 'ASC') ? '' : ' NULLS LAST'
  if (!isDynamic) return `${field.sql} ${direction}${nulls}`
  const text = field.kind === 'json' ? readJson(field, params) : readFirst(field, params)
  // A missing value is null in both expressions. So it follows the texts, which follow the numbers.
  return `tracing.number_or_null(${text}) ${direction}${nulls}, ${text} COLLATE "C" ${direction}${nulls}`
}

function readFirst({ rows, orderBy, value }: Extract<Field, { kind: 'rows' }>, params: SqlParams): string {
  const sql = readValue(value, params)
  return `(SELECT ${sql} FROM ${rows} AND ${sql} IS NOT NULL ORDER BY ${orderBy} LIMIT 1)`
}

function readValue(value: PlainField | JsonField, params: SqlParams): string {
  return value.kind === 'json' ? readJson(value, params) : `(${value.sql})::text`
}
