import { unprocessable, type ValidationIssue } from '../http-error.ts'
import { Ajv, type Options, type ValidateFunction } from 'ajv'
import type { Static, TSchema } from 'typebox'
import type { JsonDocument } from '../../json/document.ts'
import { presentIssue } from './issues.ts'
import { parseTime } from './time.ts'

// A list of all issues helps people to correct a body. In a body with millions of wrong items it would need gigabytes,
// so large bodies get only their first issue.
const thoroughUpToBytes = 1024 * 1024
/** The most issues in an answer. */
export const maxIssues = 100

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Whether a text is a UUID in its usual form, the only one that we accept. */
export function isUuid(text: string): boolean {
  return uuidPattern.test(text)
}

const isTime = (text: string) => parseTime(text) !== undefined
const formats = { uuid: uuidPattern, 'date-time': isTime }
const options: Options = { strict: false, verbose: true, ownProperties: true, strictNumbers: true, formats }
const [quickBody, thoroughBody, query] = [
  { allErrors: false },
  { allErrors: true },
  { allErrors: true, coerceTypes: true, useDefaults: true },
].map((more) => new Ajv({ ...options, ...more })) as [Ajv, Ajv, Ajv]

/** Compiles a schema when it is first used. Most of a process's schemas are not, and compiling all delays its start. */
function compileLater<T>(ajv: Ajv, schema: object): () => ValidateFunction<T> {
  let validate: ValidateFunction<T> | undefined
  return () => (validate ??= ajv.compile<T>(schema))
}

/**
 * Compiles a body schema into a function that returns a body's value with its type.
 *
 * @throws {HttpError} 422 with the issues, when the function is called
 */
export function compileBody<S extends TSchema>(schema: S): (document: JsonDocument) => Static<S> {
  const findIssues = compileIssues(schema)
  return ({ value, bytes }) => {
    const issues = findIssues(value, bytes.length)
    if (issues.length === 0) return value as Static<S>
    throw unprocessable(...issues)
  }
}

/** Compiles a schema of a body, or of its part at `path`, into a function that finds the issues of a value. */
export function compileIssues(
  schema: TSchema,
): (value: unknown, sizeBytes: number, path?: string[]) => ValidationIssue[] {
  const quick = compileLater(quickBody, schema)
  const thorough = compileLater(thoroughBody, schema)
  return (value, sizeBytes, path = []) => {
    if (quick()(value)) return []
    const validate = sizeBytes > thoroughUpToBytes ? quick() : thorough()
    validate(value)
    return presentIssues('body', validate.errors).map(({ loc, ...issue }) => ({
      loc: ['body', ...path, ...loc.slice(1)],
      ...issue,
    }))
  }
}

/**
 * Compiles a schema of query parameters. Texts become numbers and defaults are filled in. The last of repeated
 * parameters counts, except for lists: these repeat the name, with or without brackets, or use commas. Unknown
 * parameters are ignored, or rejected if the schema is `closed`.
 */
export function compileQuery<S extends TSchema>(
  schema: S,
  { closed = false } = {},
): (query: NodeJS.Dict<string | string[]>) => Static<S> {
  const compiled = compileLater<Static<S>>(query, { ...schema, ...(closed && { additionalProperties: false }) })
  const { properties = {} } = schema as { properties?: Record<string, { type?: unknown }> }
  const typeOf = (name: string) => (Object.hasOwn(properties, name) ? properties[name]?.type : undefined)
  return (given) => {
    const values: unknown = Object.fromEntries(
      Object.entries(given).map(([name, value]) => {
        const bare = name.replace(/\[\]$/, '')
        if (typeOf(bare) === 'array') return [bare, [value].flat().flatMap((text) => text?.split(',') ?? [])]
        const text = [value].flat().at(-1)
        return [name, isNumeric(typeOf(name)) && text?.trim() === '' ? '' : text]
      }),
    )
    const validate = compiled()
    if (!validate(values)) throw unprocessable(...presentIssues('query', validate.errors))
    rejectInfinite(values)
    return values
  }
}

/** For ajv, a text of spaces is the number 0, but an empty one is no number. */
const isNumeric = (type: unknown) => type === 'number' || type === 'integer'

/** ajv checks no bounds for a text that becomes Infinity. */
function rejectInfinite(values: object): void {
  const found = Object.entries(values).find(([, value]) => value === Infinity || value === -Infinity)
  if (!found) return
  throw unprocessable({ loc: ['query', found[0]], msg: 'Input should be a finite number', type: 'finite_number' })
}

type Errors = NonNullable<ReturnType<Ajv['compile']>['errors']>

function presentIssues(root: 'body' | 'query', errors: Errors | null | undefined) {
  // `if` only repeats that its `then` failed.
  const telling = (errors ?? []).filter((error) => error.keyword !== 'if')
  return telling.slice(0, maxIssues).map((error) => presentIssue(root, error))
}
