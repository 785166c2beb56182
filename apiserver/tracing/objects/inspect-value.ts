import { badRequest, tooLarge } from '../errors.ts'
import { digestValue } from '../digests.ts'
import { parseValue, TooManyValues, ValueBudget, writeValue, type Value } from '../../../lib/json/value.ts'
import { buildBuiltin } from './builtin/classes.ts'
import { FieldError } from './builtin/fields.ts'
import { classify, type ValueClass } from './classes.ts'

/** A value to be kept, as its JSON text. */
export interface GivenValue {
  val: string
  /** A class that comes with the server, which the value is to be an object of. */
  builtinObjectClass?: string | null | undefined
}

/** What is kept of it besides its text. */
export interface InspectedValue extends ValueClass {
  digest: string
  /** Another text than the one that was given, where its class completes it. */
  completed: string | undefined
}

/**
 * Takes as long as the value is large.
 *
 * @throws {HttpError} 400 when the value does not fit its class, 413 when it has more than a million values
 */
export function inspectValue({ val, builtinObjectClass }: GivenValue): InspectedValue {
  const given = parseBounded(val)
  const value = builtinObjectClass ? applyClass(given, builtinObjectClass) : given
  const completed = value === given ? undefined : writeValue(value)
  return { digest: digestValue(value), completed, ...classify(value) }
}

function parseBounded(text: string): Value {
  try {
    return parseValue(text, new ValueBudget())
  } catch (error) {
    throw error instanceof TooManyValues ? tooLarge() : error
  }
}

/** A value that says of which class it is stays as it is. */
function applyClass(value: Value, className: string): Value {
  if (!(value instanceof Map)) throw badRequest('Only an object can have a builtin_object_class')
  const { leafObjectClass } = classify(value)
  if (leafObjectClass === null) return buildClass(value, className)
  if (leafObjectClass === className) return value
  throw badRequest(`builtin_object_class is ${className.slice(0, 200)}, but the value has the class ${leafObjectClass}`)
}

function buildClass(value: Value, className: string): Value {
  try {
    return buildBuiltin(className, value)
  } catch (error) {
    throw error instanceof FieldError ? badRequest(`Invalid object: ${error.message.slice(0, 1_000)}`) : error
  }
}
