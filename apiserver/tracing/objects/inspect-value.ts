import { badRequest, tooLarge } from '../errors.ts'
import { digestValue } from '../digests.ts'
import { toInternalRefs, type ProjectNumbers } from '../internal-refs.ts'
import { parseValue, TooManyValues, ValueBudget, writeValue, type Value } from '../../../lib/json/value.ts'
import { classify, type ValueClass } from './classes.ts'

/** A value to store, as JSON text. */
export interface GivenValue {
  val: string
  /** The class that the value becomes an object of, if it names none. */
  builtinObjectClass?: string | null | undefined
  /** Of the projects that its references name. */
  numbers: ProjectNumbers
}

/** What is stored of a value in addition to its text. */
export interface InspectedValue extends ValueClass {
  digest: string
  /** The text with the members that name its class. Undefined if that changed nothing. */
  completed: string | undefined
}

/**
 * Inspects a value. It takes time in proportion to the size.
 *
 * @throws {HttpError} 400 when the value has another class, 413 when it has more than a million values
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
  if (leafObjectClass === null) return nameClass(value, className)
  if (leafObjectClass === className) return value
  throw badRequest(`builtin_object_class is ${className.slice(0, 200)}, but the value has the class ${leafObjectClass}`)
}

/** The hosted service also checks the members, and fills in defaults. Only its own pages send such values. */
function nameClass(value: Map<string, Value>, className: string): Value {
  const bases = className === 'LLMStructuredCompletionModel' ? ['Model', 'Object'] : ['BaseObject']
  const named = new Map<string, Value>([['_type', className], ...value])
  return named
    .set('_type', className)
    .set('_class_name', className)
    .set('_bases', [...bases, 'BaseModel'])
}
