import { Ajv, type Options } from 'ajv'
import type { Static, TSchema } from 'typebox'
import type { JsonDocument } from '../json/document.ts'
import { unprocessable } from '../refusal.ts'
import { presentFault } from './faults.ts'

// Every fault at once is a service to people who write bodies; in a body of millions of wrong items it would cost
// gigabytes, so a large body is told its first fault only.
const thoroughUpToBytes = 1024 * 1024
const maxFaults = 100

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Whether a text is a UUID in its usual form (the only one that Postgres and we take). */
export function isUuid(text: string): boolean {
  return uuidPattern.test(text)
}

const options: Options = { strict: false, verbose: true, ownProperties: true, strictNumbers: true }
const [quickBody, thoroughBody, query] = [
  { allErrors: false },
  { allErrors: true },
  { allErrors: true, coerceTypes: true, useDefaults: true },
].map((more) => new Ajv({ ...options, ...more, formats: { uuid: uuidPattern } })) as [Ajv, Ajv, Ajv]

/**
 * Compiles a body schema, once, into a function that returns the body's value with its type.
 *
 * @throws {Refusal} (the compiled function) 422 with the faults
 */
export function compileBody<S extends TSchema>(schema: S): (document: JsonDocument) => Static<S> {
  const quick = quickBody.compile<Static<S>>(schema)
  const thorough = thoroughBody.compile<Static<S>>(schema)
  return ({ value, bytes }) => {
    const validate = bytes.length > thoroughUpToBytes ? quick : thorough
    if (validate(value)) return value
    throw unprocessable(...presentFaults('body', validate.errors))
  }
}

/** The same for query parameters: texts become numbers, defaults are filled in, of a repeated one the last counts. */
export function compileQuery<S extends TSchema>(schema: S): (query: NodeJS.Dict<string | string[]>) => Static<S> {
  const validate = query.compile<Static<S>>(schema)
  return (given) => {
    const values: unknown = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, [value].flat().at(-1)]),
    )
    if (validate(values)) return values
    throw unprocessable(...presentFaults('query', validate.errors))
  }
}

type Errors = NonNullable<ReturnType<Ajv['compile']>['errors']>

function presentFaults(root: 'body' | 'query', errors: Errors | null | undefined) {
  // `if` only repeats that its `then` failed.
  const telling = (errors ?? []).filter((error) => error.keyword !== 'if')
  return telling.slice(0, maxFaults).map((error) => presentFault(root, error))
}
