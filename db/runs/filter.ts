import { isObject } from '../../lib/json/is-object.ts'
import { FilterError, findField, type Field, type Parameters } from './filter-fields.ts'

// The filters of people have a few conditions. Each one is computed for each run of the project.
const maxConditions = 200
const maxDepth = 12
// In all lists of a filter.
const maxListed = 1_000
const maxPatternLength = 256

/** The SQL of a filter. Few runs match `columns`, for which Postgres reads no config and no summary. */
export interface CompiledFilter {
  columns: string
  members: string
}

/**
 * Compiles a filter in the language of MongoDB into SQL with parameters: $and, $or, $nor, $not, comparisons, $in, $nin,
 * $exists and $regex.
 *
 * @throws {FilterError}
 */
export function compileFilter(filter: unknown, parameters: Parameters): CompiledFilter {
  return new Compiler(parameters).compileAll(filter)
}

class Compiler {
  readonly #parameters: Parameters
  #conditions = 0
  #listed = 0

  constructor(parameters: Parameters) {
    this.#parameters = parameters
  }

  /** Conditions that all must be true are apart from each other, if some of them need no members. */
  compileAll(filter: unknown): CompiledFilter {
    const parts = { columns: [] as string[], members: [] as string[] }
    const add = (name: string, value: unknown, depth: number): void => {
      if (name === '$and' && Array.isArray(value) && value.every(isObject) && depth < maxDepth) {
        for (const each of value) for (const member of Object.entries(each)) add(...member, depth + 1)
        return
      }
      const before = this.#parameters.uses
      const sql = this.#compileMember(name, value, depth)
      parts[this.#parameters.uses === before ? 'columns' : 'members'].push(sql)
    }
    if (!isObject(filter)) throw new FilterError('A filter must be an object')
    for (const [name, value] of Object.entries(filter)) add(name, value, 0)
    return { columns: join(parts.columns, 'AND', 'true'), members: join(parts.members, 'AND', 'true') }
  }

  compile(filter: unknown, depth = 0): string {
    if (!isObject(filter)) throw new FilterError('A filter must be an object')
    if (depth > maxDepth) throw new FilterError(`A filter may be nested ${maxDepth} levels deep`)
    const parts = Object.entries(filter).map(([name, value]) => this.#compileMember(name, value, depth))
    return join(parts, 'AND', 'true')
  }

  #compileMember(name: string, value: unknown, depth: number): string {
    if (name === '$and' || name === '$or' || name === '$nor') {
      const parts = this.#list(value, name).map((each) => this.compile(each, depth + 1))
      if (name === '$and') return join(parts, 'AND', 'true')
      const any = join(parts, 'OR', 'false')
      return name === '$or' ? any : `NOT ${any}`
    }
    if (name === '$not') return `NOT ${this.compile(value, depth + 1)}`
    if (name.startsWith('$')) throw unknownOperator(name)
    return this.#compileField(findField(name, this.#parameters), value, depth)
  }

  #compileField(field: Field, value: unknown, depth: number): string {
    const isOperators = isObject(value) && Object.keys(value).some((key) => key.startsWith('$'))
    if (!isOperators) return this.#compare(field, '$eq', value)
    if (depth > maxDepth) throw new FilterError(`A filter may be nested ${maxDepth} levels deep`)
    const parts = Object.entries(value)
      .filter(([operator]) => operator !== '$options')
      .map(([operator, operand]) =>
        operator === '$not'
          ? `NOT ${this.#compileField(field, operand, depth + 1)}`
          : this.#compare(field, operator, operand),
      )
    return join(parts, 'AND', 'true')
  }

  /** A condition is true or false, never null: NOT means what it says. */
  #compare(field: Field, operator: string, operand: unknown): string {
    this.#conditions += 1
    if (this.#conditions > maxConditions) throw new FilterError(`A filter may have ${maxConditions} conditions`)
    switch (operator) {
      case '$eq':
        return this.#equals(field, operand)
      case '$ne':
        return `NOT ${this.#equals(field, operand)}`
      case '$in':
        return this.#isOneOf(field, this.#list(operand, operator))
      case '$nin':
        return `NOT ${this.#isOneOf(field, this.#list(operand, operator))}`
      case '$exists':
        return `(${isMissing(field)}) = ${operand === false ? 'true' : 'false'}`
      case '$regex':
        return this.#matches(field, operand)
      case '$gt':
      case '$gte':
      case '$lt':
      case '$lte':
        return this.#orders(field, orders[operator], operand)
      default:
        throw unknownOperator(operator)
    }
  }

  #equals({ sql, type }: Field, value: unknown): string {
    if (value === null) return isMissing({ sql, type })
    if (type === 'json') return `coalesce(${sql} = ${this.#json(value)}, false)`
    if (type === 'tags') return `${this.#scalar('text', value)} = ANY (${sql})`
    return `coalesce(${sql} = ${this.#scalar(type, value)}, false)`
  }

  #isOneOf(field: Field, values: unknown[]): string {
    this.#listed += values.length
    if (this.#listed > maxListed) throw new FilterError(`The lists of a filter may have ${maxListed} items in all`)
    const given = values.filter((value) => value !== null)
    const parts = given.length === values.length ? [] : [isMissing(field)]
    if (given.length > 0) parts.push(this.#equalsOneOf(field, given))
    return join(parts, 'OR', 'false')
  }

  #equalsOneOf({ sql, type }: Field, values: unknown[]): string {
    if (type === 'json') {
      const list = this.#parameters.add(values.map((value) => JSON.stringify(value)))
      return `coalesce(${sql} = ANY (${list}::jsonb[]), false)`
    }
    const list = this.#parameters.add(values.map((value) => readScalar(type, value)))
    if (type === 'tags') return `${sql} && ${list}::text[]`
    return `coalesce(${sql} = ANY (${list}::${type}[]), false)`
  }

  /** JSON values are only compared with values of their own type. */
  #orders({ sql, type }: Field, sign: string, value: unknown): string {
    if (type === 'tags') throw new FilterError('Tags have no order')
    if (type !== 'json') return `coalesce(${sql} ${sign} ${this.#scalar(type, value)}, false)`
    const given = this.#json(value)
    return `coalesce(jsonb_typeof(${sql}) = jsonb_typeof(${given}) AND ${sql} ${sign} ${given}, false)`
  }

  /** Postgres searches without backtracking, unless the pattern refers back to what it has found. */
  #matches({ sql, type }: Field, pattern: unknown): string {
    if (typeof pattern !== 'string' || pattern.length > maxPatternLength || pattern.includes('\0'))
      throw new FilterError(`$regex must be a text of at most ${maxPatternLength} characters`)
    if (/\\[1-9]|\{\d{3,}|\*{3}/.test(pattern))
      throw new FilterError('$regex must not refer back, or repeat more than 99 times')
    const given = `${this.#parameters.add(pattern)}::text`
    if (type === 'tags') return `EXISTS (SELECT FROM unnest(${sql}) AS tag WHERE tag ~ ${given})`
    const text = type === 'json' ? `(${sql} #>> '{}')` : `${sql}::text`
    return `coalesce(${text} ~ ${given}, false)`
  }

  #list(value: unknown, operator: string): unknown[] {
    if (!Array.isArray(value)) throw new FilterError(`${operator} needs a list`)
    return value
  }

  #scalar(type: 'text' | 'timestamptz', value: unknown): string {
    return `${this.#parameters.add(readScalar(type, value))}::${type}`
  }

  #json(value: unknown): string {
    return `${this.#parameters.add(JSON.stringify(value))}::jsonb`
  }
}

function readScalar(type: Exclude<Field['type'], 'json'>, value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
    throw new FilterError('A value must be a text, a number or a boolean')
  if (type === 'timestamptz' && Number.isNaN(Date.parse(String(value))))
    throw new FilterError('A time must be in the form 2026-01-31T12:00:00Z')
  return String(value).replaceAll('\0', '')
}

const orders = { $gt: '>', $gte: '>=', $lt: '<', $lte: '<=' } as const

function isMissing({ sql, type }: Field): string {
  if (type === 'tags') return `cardinality(${sql}) = 0`
  return type === 'json' ? `coalesce(${sql} = 'null', true)` : `(${sql}) IS NULL`
}

function join(parts: string[], word: 'AND' | 'OR', none: string): string {
  return parts.length === 0 ? none : `(${parts.join(` ${word} `)})`
}

function unknownOperator(operator: string): FilterError {
  return new FilterError(`The operator ${operator.slice(0, 40)} is not supported`)
}
