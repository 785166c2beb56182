import { badRequest, tooLarge } from '../errors.ts'
import { digestValue } from '../digests.ts'
import { toInternalRefs, type ProjectNumbers } from '../internal-refs.ts'
import { parseValue, TooManyValues, ValueBudget, writeValue, type Value } from '../../../lib/json/value.ts'
import { buildBuiltin } from './builtin/classes.ts'
import { FieldError } from './builtin/fields.ts'
import { classify, type ValueClass } from './classes.ts'

/** A value to store, as JSON text. */
export interface GivenValue {
  val: string
  /** The builtin class that the value should be an object of. */
  builtinObjectClass?: string | null | undefined
  /** Of the projects that its references name. */
  numbers: ProjectNumbers
}

/** What is stored of a value in addition to its text. */
export interface InspectedValue extends ValueClass {
  digest: string
  /** The text after its class has filled in members. Undefined if that changed nothing. */
  completed: string | undefined
}

/**
 * Inspects a value. It takes time in proportion to the size.
 *
 * @throws {HttpError} 400 when the value does not match its class, 413 when it has more than a million values
 */
export function inspectValue({ val, builtinObjectClass, numbers }: GivenValue): InspectedValue {
  const given = parseBounded(val)
  const value = builtinObjectClass ? applyClass(given, builtinObjectClass) : given
  const completed = value === given ? undefined : writeValue(value)
  return {
    digest: digestValue(val.includes('weave:') ? toInternalRefs(value, numbers) : value),
    completed,
    ...classify(value),
  }
}

function parseBounded(text: string): Value {
  try {
    return parseValue(text, new ValueBudget())
  } catch (error) {
    throw error instanceof TooManyValues ? tooLarge() : error
  }
}

/** A value that already names the class stays unchanged. */
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
