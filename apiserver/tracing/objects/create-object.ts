import { publishVersion } from '../../../db/tracing/objects.ts'
import type { TraceDeps } from '../deps.ts'
import { digestValue } from '../json/digests.ts'
import { parseValue, writeValue, type Value } from '../json/value.ts'
import type { Project } from '../projects.ts'
import { badRequest, digestMismatch } from '../refusals.ts'
import { buildBuiltin } from './builtin/classes.ts'
import { Misfit } from './builtin/fields.ts'
import { classify } from './classes.ts'
import { checkObjectId } from './object-names.ts'

export interface NewObject {
  objectId: string
  /** A JSON value as its text, which is kept as it is. */
  val: string
  /** A class that comes with the server, which the value is to be an object of. */
  builtinObjectClass?: string | null | undefined
  /** What the client has computed. */
  expectedDigest?: string | null | undefined
  wbUserId: string
}

/**
 * Publishes a value under a name and answers the version's digest. The same value is the same version, which is the
 * latest one then.
 *
 * @throws {TraceRefusal} 403 for what is no name, 400 when the value does not fit its class, 409 for another digest
 */
export async function createObject(
  deps: Pick<TraceDeps, 'pool'>,
  project: Project,
  { objectId, val, builtinObjectClass, expectedDigest, wbUserId }: NewObject,
): Promise<string> {
  checkObjectId(objectId)
  const given = parseValue(val)
  const value = builtinObjectClass ? applyClass(given, builtinObjectClass) : given
  const digest = digestValue(value)
  if (expectedDigest && expectedDigest !== digest) throw digestMismatch(`The digest of ${objectId} is ${digest}`)
  const text = value === given ? val : writeValue(value)
  await publishVersion(deps.pool, project.number, { objectId, digest, val: text, wbUserId, ...classify(value) })
  return digest
}

/** A value that says of which class it is stays as it is. */
function applyClass(value: Value, className: string): Value {
  if (!(value instanceof Map)) throw badRequest('Only an object can have a builtin_object_class')
  const { leafObjectClass } = classify(value)
  if (leafObjectClass === null) return buildClass(value, className)
  if (leafObjectClass === className) return value
  throw badRequest(`The builtin_object_class ${className.slice(0, 200)} is not what the value says, ${leafObjectClass}`)
}

function buildClass(value: Value, className: string): Value {
  try {
    return buildBuiltin(className, value)
  } catch (error) {
    throw error instanceof Misfit ? badRequest(`Invalid object: ${error.message.slice(0, 1_000)}`) : error
  }
}
