import type { ValidationIssue } from '../http-error.ts'
import type { ErrorObject } from 'ajv'

/** What a schema requires (the value of the failed keyword) and what was found. */
interface Failure {
  wanted: string | number
  data: unknown
}

const typeIssues: Record<string, Omit<ValidationIssue, 'loc'>> = {
  string: { msg: 'Input should be a valid string', type: 'string_type' },
  number: { msg: 'Input should be a valid number', type: 'float_type' },
  integer: { msg: 'Input should be a valid integer', type: 'int_type' },
  boolean: { msg: 'Input should be a valid boolean', type: 'bool_type' },
  array: { msg: 'Input should be a valid list', type: 'list_type' },
  object: { msg: 'Input should be a valid dictionary', type: 'dict_type' },
  // Only for unknown keys: they may be an explicit null, which counts as absent.
  null: { msg: 'Extra inputs are not permitted', type: 'extra_forbidden' },
}

const parsingIssues: Record<string, Omit<ValidationIssue, 'loc'>> = {
  number: { msg: 'Input should be a valid number, unable to parse string as a number', type: 'float_parsing' },
  integer: { msg: 'Input should be a valid integer, unable to parse string as an integer', type: 'int_parsing' },
}

const keywordIssues: Record<string, (failure: Failure) => Omit<ValidationIssue, 'loc'>> = {
  required: () => ({ msg: 'Field required', type: 'missing' }),
  additionalProperties: () => typeIssues['null']!,
  minimum: ({ wanted }) => ({ msg: `Input should be greater than or equal to ${wanted}`, type: 'greater_than_equal' }),
  maximum: ({ wanted }) => ({ msg: `Input should be less than or equal to ${wanted}`, type: 'less_than_equal' }),
  exclusiveMinimum: ({ wanted }) => ({ msg: `Input should be greater than ${wanted}`, type: 'greater_than' }),
  minItems: ({ wanted, data }) => ({
    msg: `List should have at least ${wanted} item${wanted === 1 ? '' : 's'} after validation, not ${lengthOf(data)}`,
    type: 'too_short',
  }),
  maxItems: ({ wanted, data }) => ({
    msg: `List should have at most ${wanted} item${wanted === 1 ? '' : 's'} after validation, not ${lengthOf(data)}`,
    type: 'too_long',
  }),
  maxLength: ({ wanted }) => ({ msg: `String should have at most ${wanted} characters`, type: 'string_too_long' }),
  minLength: ({ wanted }) => ({ msg: `String should have at least ${wanted} character`, type: 'string_too_short' }),
  pattern: ({ wanted }) => ({ msg: `String should match pattern '${wanted}'`, type: 'string_pattern_mismatch' }),
  format: ({ wanted }) =>
    wanted === 'date-time'
      ? { msg: 'Input should be a valid datetime', type: 'datetime_parsing' }
      : { msg: `Input should be a valid ${String(wanted).toUpperCase()}`, type: `${wanted}_parsing` },
}

/**
 * Describes a failed schema rule in the words that clients of the hosted service know. `root` is where the value came
 * from.
 */
export function presentIssue(root: 'body' | 'query', error: ErrorObject): ValidationIssue {
  return { loc: [root, ...locate(error)], ...describe(root, error) }
}

function locate(error: ErrorObject): string[] {
  const path = error.instancePath.split('/').slice(1)
  const { missingProperty, additionalProperty } = error.params as Record<string, string | undefined>
  const member = missingProperty ?? additionalProperty
  const names = path.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  return member === undefined ? names : [...names, member]
}

function describe(root: 'body' | 'query', error: ErrorObject): Omit<ValidationIssue, 'loc'> {
  if (error.keyword === 'type') return describeType(root, error)
  if (root === 'query' && error.keyword === 'additionalProperties') return describeUnknownParameter(error)
  if (error.keyword === 'enum')
    return { msg: `Input should be ${joinLiterals(error.schema as Literal[])}`, type: 'literal_error' }
  const described = keywordIssues[error.keyword]?.({ wanted: error.schema as string | number, data: error.data })
  if (!described) return { msg: `Value error, ${error.message ?? 'not valid'}`, type: 'value_error' }
  // The description of the field explains it to people who do not read patterns.
  const { description } = (error.parentSchema ?? {}) as { description?: string }
  const isOfForm = error.keyword === 'pattern' || error.keyword === 'format'
  return description !== undefined && isOfForm ? { ...described, msg: `${described.msg}: ${description}` } : described
}

function describeType(root: 'body' | 'query', { schema, data }: ErrorObject): Omit<ValidationIssue, 'loc'> {
  const wanted = [schema as string | string[]].flat()
  if (
    typeof data === 'number' &&
    !Number.isFinite(data) &&
    wanted.some((type) => type === 'number' || type === 'integer')
  ) {
    return { msg: 'Input should be a finite number', type: 'finite_number' }
  }
  const type = wanted[0]!
  if (type === 'integer' && typeof data === 'number') {
    return { msg: 'Input should be a valid integer, got a number with a fractional part', type: 'int_from_float' }
  }
  return (root === 'query' ? parsingIssues[type] : undefined) ?? typeIssues[type]!
}

/** Only lists reject unknown parameters, because a misspelt filter would list everything. */
function describeUnknownParameter({ parentSchema }: ErrorObject): Omit<ValidationIssue, 'loc'> {
  const { properties = {} } = parentSchema as { properties?: object }
  const { msg, type } = typeIssues['null']!
  return { msg: `${msg}; this list knows: ${Object.keys(properties).join(', ')}`, type }
}

type Literal = string | number | null

function joinLiterals(values: Literal[]): string {
  const literals = values
    .filter((value) => value !== null)
    .map((value) => (typeof value === 'string' ? `'${value}'` : value))
  return literals.length < 2 ? literals.join('') : `${literals.slice(0, -1).join(', ')} or ${literals.at(-1)}`
}

function lengthOf(data: unknown): number {
  return Array.isArray(data) ? data.length : 0
}
