/** How large a JSON schema is. */
export interface SchemaSize {
  /** Choices and properties: items of lists, and members of objects that name something. */
  items: number
  /** Deepest nesting of objects and lists. */
  depth: number
}

// Their members are the schema's own names; those of other objects are JSON schema's.
const naming = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])

/** Measures a value, and goes no deeper than one level beyond `maxDepth`. */
export function measureSchema(value: unknown, maxDepth: number): SchemaSize {
  const size: SchemaSize = { items: 0, depth: 0 }
  const walk = (inner: unknown, name: string, depth: number): void => {
    if (typeof inner !== 'object' || inner === null) return
    size.depth = Math.max(size.depth, depth)
    if (depth > maxDepth) return
    // What is required is among the properties already.
    if ((Array.isArray(inner) && name !== 'required') || naming.has(name)) size.items += Object.keys(inner).length
    for (const [key, member] of Object.entries(inner)) walk(member, Array.isArray(inner) ? '' : key, depth + 1)
  }
  walk(value, '', 1)
  return size
}
