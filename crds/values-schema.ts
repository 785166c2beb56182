import type { JSONSchema } from 'json-schema-to-typescript'

// What JSON Schema checks as Kubernetes does.
const kept = [
  'type',
  'required',
  'enum',
  'pattern',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
]

/** The schema of a CRD's field for values of the chart: unknown members are rejected, and null is as good as nothing. */
export function buildValuesSchema(schema: JSONSchema): Record<string, unknown> {
  if (schema['x-kubernetes-int-or-string']) return { type: ['integer', 'number', 'string', 'null'] }
  const { properties, items, additionalProperties } = schema
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true || !properties
  return {
    ...Object.fromEntries(kept.filter((name) => schema[name] !== undefined).map((name) => [name, schema[name]])),
    ...(schema.enum ? { enum: [...schema.enum, null] } : {}),
    ...(schema.type && { type: [schema.type, 'null'] }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, value]) => [name, buildValuesSchema(value)]),
      ),
    }),
    ...(items && { items: buildValuesSchema(items) }),
    ...(typeof additionalProperties === 'object'
      ? { additionalProperties: buildValuesSchema(additionalProperties) }
      : !isOpen && { additionalProperties: false }),
  }
}
