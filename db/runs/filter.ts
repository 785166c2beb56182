import { isObject } from '../../lib/json/is-object.ts'
import { sqlRunState } from './table.ts'

/** A filter of runs that cannot be used. */
export class FilterError extends Error {
  override name = 'FilterError'
}

// The filters of people have a few conditions. Each one is computed for each run of the project.
const maxConditions = 200
const maxDepth = 12
const maxListed = 1_000
const maxPatternLength = 256

/** SQL of a field, and whether its values are JSON. */
interface Field {
  sql: string
  type: 'text' | 'timestamptz' | 'json' | 'tags'
}

const fields: Readonly<Record<string, Field>> = {
  state: { sql: sqlRunState, type: 'text' },
  name: { sql: 'r.name', type: 'text' },
  displayName: { sql: 'coalesce(r.display_name, r.name)', type: 'text' },
  description: { sql: 'r.description', type: 'text' },
  notes: { sql: 'r.notes', type: 'text' },
  group: { sql: 'r.group_name', type: 'text' },
  jobType: { sql: 'r.job_type', type: 'text' },
  host: { sql: 'r.host', type: 'text' },
  commit: { sql: 'r.commit_hash', type: 'text' },
  username: { sql: 'r.entity', type: 'text' },
  sweep: { sql: 'NULL::text', type: 'text' },
  tags: { sql: 'r.tags', type: 'tags' },
  createdAt: { sql: 'r.created_at', type: 'timestamptz' },
  heartbeatAt: { sql: 'r.heartbeat_at', type: 'timestamptz' },
  duration: { sql: 'to_jsonb(extract(epoch FROM r.heartbeat_at - r.created_at))', type: 'json' },
}

const otherNames: Readonly<Record<string, string>> = {
  display_name: 'displayName',
  job_type: 'jobType',
  created_at: 'createdAt',
  updated_at: 'heartbeatAt',
  updatedAt: 'heartbeatAt',
  heartbeat_at: 'heartbeatAt',
  user: 'username',
  'user.username': 'username',
  run_id: 'name',
}

/** Values of a statement. `add` returns the parameter's SQL. */
export class Parameters {
  readonly values: unknown[]

  constructor(values: unknown[]) {
    this.values = values
  }

  add(value: unknown): string {
    this.values.push(value)
    return `$${this.values.length}`
  }
}

/** Finds the SQL of a field by the name that clients use. @throws {FilterError} for an unknown one */
export function findField(name: string, parameters: Parameters): Field {
  const known = Object.hasOwn(otherNames, name) ? otherNames[name]! : name
  if (Object.hasOwn(fields, known)) return fields[known]!
  const [root, ...path] = known.split('.')
  const place = (segments: string[]) => `#> ${parameters.add(segments)}::text[]`
  if (root === 'config' && path.length > 0) return { sql: configSql(path, place), type: 'json' }
  if (['summary_metrics', 'summaryMetrics', 'summary'].includes(root!) && path.length > 0) {
    return { sql: `coalesce(r.summary ${place([path.join('.')])}, r.summary ${place(path)})`, type: 'json' }
  }
  throw new FilterError(
    `Runs have no field ${JSON.stringify(name.slice(0, 100))}. There are ${Object.keys(fields).join(', ')}, ` +
      'config.KEY and summary_metrics.KEY',
  )
}

/** A key of a config, whose value is in the member `value`. Its name may contain dots. */
function configSql(path: string[], place: (segments: string[]) => string): string {
  const bare = path.at(-1) === 'value' && path.length > 1 ? path.slice(0, -1) : path
  const [key, ...rest] = bare[1] === 'value' ? [bare[0]!, ...bare.slice(2)] : [bare[0]!, ...bare.slice(1)]
  return `coalesce(r.config ${place([bare.join('.'), 'value'])}, r.config ${place([key, 'value', ...rest])})`
}

/**
 * Compiles a filter in the language of MongoDB into SQL with parameters: $and, $or, $nor, $not, comparisons, $in, $nin,
 * $exists and $regex.
 *
 * @throws {FilterError}
 */
export function compileFilter(filter: unknown, parameters: Parameters): string {
  return new Compiler(parameters).compile(filter)
}

class Compiler {
  readonly #parameters: Parameters
  #conditions = 0

  constructor(parameters: Parameters) {
    this.#parameters = parameters
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
    if (type === 'tags') return `${this.#text(value)} = ANY (${sql})`
    return `coalesce(${sql} = ${this.#scalar(type, value)}, false)`
  }

  #isOneOf(field: Field, values: unknown[]): string {
    return join(
      values.map((value) => this.#equals(field, value)),
      'OR',
      'false',
    )
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
    if (!Array.isArray(value) || value.length > maxListed)
      throw new FilterError(`${operator} needs a list of at most ${maxListed} items`)
    return value
  }

  #scalar(type: 'text' | 'timestamptz', value: unknown): string {
    const text = this.#text(value)
    if (type === 'text') return text
    if (Number.isNaN(Date.parse(String(value))))
      throw new FilterError('A time must be in the form 2026-01-31T12:00:00Z')
    return `${text}::timestamptz`
  }

  #text(value: unknown): string {
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
      throw new FilterError('A value must be a text, a number or a boolean')
    return `${this.#parameters.add(String(value).replaceAll('\0', ''))}::text`
  }

  #json(value: unknown): string {
    return `${this.#parameters.add(JSON.stringify(value))}::jsonb`
  }
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
