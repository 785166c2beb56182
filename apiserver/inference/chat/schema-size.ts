/** How large a JSON schema is. */
export interface SchemaSize {
  /** The number of choices and properties: items of lists, and members of objects that define names. */
  items: number
  /** The deepest nesting of objects and lists. */
  depth: number
}

// The members of these objects are names from the schema's author. The members of other objects are keywords of JSON
// Schema.
const naming = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])

/** Measures a value. Stops one level below `maxDepth`. */
export function measureSchema(value: unknown, maxDepth: number): SchemaSize {
  const size: SchemaSize = { items: 0, depth: 0 }
  const walk = (inner: unknown, name: string, depth: number): void => {
    if (typeof inner !== 'object' || inner === null) return
    size.depth = Math.max(size.depth, depth)
    if (depth > maxDepth) return
    // Required names are already counted as properties.
    if ((Array.isArray(inner) && name !== 'required') || naming.has(name)) size.items += Object.keys(inner).length
    for (const [key, member] of Object.entries(inner)) walk(member, Array.isArray(inner) ? '' : key, depth + 1)
  }
  walk(value, '', 1)
  return size
}
