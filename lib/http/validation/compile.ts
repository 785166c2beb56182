import { unprocessable, type ValidationIssue } from '../http-error.ts'
import { Ajv, type Options } from 'ajv'
import type { Static, TSchema } from 'typebox'
import type { JsonDocument } from '../../json/document.ts'
import { presentIssue } from './issues.ts'
import { parseTime } from './time.ts'

// Every issue at once helps people to correct a body. In a body of millions of wrong items it would cost
// gigabytes, so a large body gets its first issue only.
const thoroughUpToBytes = 1024 * 1024
/** How many issues an answer has at most. */
export const maxIssues = 100

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Whether a text is a UUID in its usual form (the only one that Postgres and we take). */
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

/**
 * Compiles a body schema, once, into a function that returns the body's value with its type.
 *
 * @throws {HttpError} (the compiled function) 422 with the issues
 */
export function compileBody<S extends TSchema>(schema: S): (document: JsonDocument) => Static<S> {
  const findIssues = compileIssues(schema)
  return ({ value, bytes }) => {
    const issues = findIssues(value, bytes.length)
    if (issues.length === 0) return value as Static<S>
    throw unprocessable(...issues)
  }
}

/** Compiles a schema of a body, or of a part of one at `place`, into a function that finds what is wrong with a value. */
export function compileIssues(
  schema: TSchema,
): (value: unknown, sizeBytes: number, place?: string[]) => ValidationIssue[] {
  const quick = quickBody.compile(schema)
  const thorough = thoroughBody.compile(schema)
  return (value, sizeBytes, place = []) => {
    if (quick(value)) return []
    const validate = sizeBytes > thoroughUpToBytes ? quick : thorough
    validate(value)
    return presentIssues('body', validate.errors).map(({ loc, ...issue }) => ({
      loc: ['body', ...place, ...loc.slice(1)],
      ...issue,
    }))
  }
}

/**
 * The same for query parameters: texts become numbers, defaults are filled in. Of a repeated one the last counts, unless
 * the schema has a list: that is given by repeating its name, as it is or with brackets, and by commas. Parameters that the
 * schema does not have are ignored, or rejected where it is `closed`.
 */
export function compileQuery<S extends TSchema>(
  schema: S,
  { closed = false } = {},
): (query: NodeJS.Dict<string | string[]>) => Static<S> {
  const validate = query.compile<Static<S>>({ ...schema, ...(closed && { additionalProperties: false }) })
  const { properties = {} } = schema as { properties?: Record<string, { type?: unknown }> }
  const isList = (name: string) => Object.hasOwn(properties, name) && properties[name]?.type === 'array'
  return (given) => {
    const values: unknown = Object.fromEntries(
      Object.entries(given).map(([name, value]) => {
        const bare = name.replace(/\[\]$/, '')
        return isList(bare)
          ? [bare, [value].flat().flatMap((text) => text?.split(',') ?? [])]
          : [name, [value].flat().at(-1)]
      }),
    )
    if (!validate(values)) throw unprocessable(...presentIssues('query', validate.errors))
    rejectInfinite(values)
    return values
  }
}

/** Bounds are not looked at for a text that becomes Infinity. */
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
