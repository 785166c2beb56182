/** The parts of a schema of OpenAPI that decide what the API server stores and accepts. */
export interface Schema {
  properties?: Record<string, Schema>
  items?: Schema
  additionalProperties?: Schema | boolean
  enum?: unknown[]
  maximum?: number
  maxLength?: number
  maxItems?: number
  maxProperties?: number
}

const bounds = ['maximum', 'maxLength', 'maxItems', 'maxProperties'] as const

/**
 * Lists what `needed` allows and `present` does not, as paths such as `spec.engine.replicas`. A later schema lacks nothing:
 * our schemas only grow.
 */
export function listLacking(needed: Schema, present: Schema, path: string): string[] {
  const isNarrower = bounds.some((bound) => (present[bound] ?? Infinity) < (needed[bound] ?? -Infinity))
  const values = (needed.enum ?? []).filter((value) => present.enum !== undefined && !present.enum.includes(value))
  const children = Object.entries(childrenOf(needed)).flatMap(([name, schema]) => {
    const found = childrenOf(present)[name]
    return found ? listLacking(schema, found, path + name) : [path + name]
  })
  return [...(isNarrower ? [path] : []), ...values.map((value) => `${path}=${String(value)}`), ...children]
}

function childrenOf({ properties = {}, items, additionalProperties }: Schema): Record<string, Schema> {
  const named = Object.entries(properties).map(([name, schema]) => [`.${name}`, schema] as const)
  return {
    ...Object.fromEntries(named),
    ...(items && { '[]': items }),
    ...(typeof additionalProperties === 'object' && { '.*': additionalProperties }),
  }
}
