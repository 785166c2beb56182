import type { Caller } from '../../middleware/context.ts'
import type { TraceDeps } from '../deps.ts'
import { parseValue, writeValue, type Value } from '../json/value.ts'
import { badRequest } from '../refusals.ts'
import { resolveRefs } from '../refs/resolve-refs.ts'

const className = 'AnnotationSpec'

/**
 * Checks a value by the annotation specification that a reference names.
 *
 * @throws {TraceRefusal} 400 for what is no specification or a value that it does not allow, 404 when it is not there
 */
export async function checkAnnotation(
  deps: TraceDeps,
  caller: Caller,
  { ref, value }: { ref: string; value: string },
): Promise<void> {
  const [text] = await resolveRefs(deps, caller, [ref])
  const schema = readFieldSchema(parseValue(text!))
  if (!schema) throw badRequest(`annotation_ref must point to an ${className}`)
  const outcome = await deps.values.check({ schema: writeValue(schema), value })
  if (outcome === 'bad schema') throw badRequest('The schema of the annotation spec cannot be used')
  if (outcome === 'invalid') throw badRequest('Feedback payload does not match annotation spec')
}

/** An empty one allows every value. Undefined for what is no specification. */
function readFieldSchema(spec: Value): Map<string, Value> | undefined {
  if (!(spec instanceof Map) || !isOfClass(spec)) return undefined
  const schema = spec.get('field_schema') ?? new Map<string, Value>()
  return schema instanceof Map ? schema : undefined
}

/** Programs store the class of an object in it; scripts may leave it out. */
function isOfClass(spec: Map<string, Value>): boolean {
  const name = spec.get('_class_name') ?? spec.get('_type')
  const bases = spec.get('_bases')
  if (Array.isArray(bases) && bases.includes(className)) return true
  return name === undefined ? spec.has('field_schema') : name === className
}
